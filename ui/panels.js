// What stands around the answers. Fragments come from the server, as in page.js; these files ask for them and put them in place:
// this one knows how (`data-get`, `data-post` and `data-into` in a fragment say what), shelf.js the library and the settings, talks.js
// the conversations. They build no HTML from data. Kept in the browser, for this tab: which conversation is open, which papers are
// asked, which settings were changed.
window.askPapersPanels = (() => {
  const find = (id) => document.getElementById(id);
  const kept = (name) => { try { return JSON.parse(sessionStorage.getItem("askpapers " + name)); } catch { return null; } };
  const state = { talk: kept("talk"), scope: kept("scope"), options: kept("options") || {} };
  const keep = (name, value) => {
    state[name] = value;
    try { sessionStorage.setItem("askpapers " + name, JSON.stringify(value)); } catch { /* it is forgotten at a reload, then */ }
  };
  const box = () => document.querySelector("#question textarea, #question input");
  const setBox = (text) => {
    if (!box()) return;
    box().value = text;
    box().dispatchEvent(new Event("input", { bubbles: true }));
  };
  const say = (words) => { find("note").textContent = words || ""; };
  const complain = (error) => { (find("sheet").open ? find("sheet-note") : find("note")).textContent = error.message; };

  const root = () => { // behind a proxy the page may be anywhere
    let path = location.pathname;
    try { path = new URL(window.gradio_config.root, location.href).pathname; } catch { /* where we are */ }
    return path.endsWith("/") ? path : path + "/";
  };
  const fetched = async (path, body) => { // the answer, or an error with a sentence
    const sent = body === undefined ? {} : body instanceof Blob ? { method: "POST", body } : { method: "POST", body: JSON.stringify(body) };
    if (sent.method) sent.headers = { "content-type": body instanceof Blob ? "application/octet-stream" : "application/json" };
    let answer;
    try { answer = await fetch(root() + path, sent); } catch {
      throw new Error("Ask Papers can’t be reached. If it was closed, start it again and reload this page.");
    }
    if (!answer.ok) throw new Error((await answer.text()).slice(0, 500) || `The server answered ${answer.status}.`);
    return answer;
  };
  const text = async (path, body) => (await fetched(path, body)).text();
  const latest = {};
  const put = async (path, into, body) => { // false if it went wrong, which has been said then
    const mine = latest[into] = (latest[into] || 0) + 1;
    try {
      if (find("sheet").open) find("sheet-note").textContent = "";
      const html = await text(path, body), place = document.querySelector(into);
      if (place && mine === latest[into]) { // an earlier search may come back later
        const was = place.contains(document.activeElement) ? document.activeElement : null, at = [...place.children].findIndex((each) => each.contains(was));
        place.innerHTML = html;
        settled.forEach((then) => then(place));
        if (was) refocus(place, was, at);
      }
      return true;
    } catch (error) { complain(error); return false; }
  };
  const controls = (place) => [...place.querySelectorAll("button, input, summary, a[href]")].filter((each) => each.checkVisibility() && !each.disabled);
  const refocus = (place, was, at) => { // the control of the same words, or the item that has come to its place, or what stands before all that
    const now = controls(place), item = place.children[Math.min(at, place.children.length - 1)];
    const same = now.find((each) => was.textContent && each.textContent === was.textContent && each.ariaLabel === was.ariaLabel);
    const next = same || (item && controls(item)[0]) || now[0] || find("seek")?.elements.find || document.querySelector('[data-do="fresh"]');
    next?.focus({ preventScroll: Boolean(same) });
  };
  const settled = []; // what is to be done when a fragment has been put in its place

  const sure = (button, question, then) => { // asks in place; moving on means no
    const before = [...button.childNodes], done = () => { button.replaceChildren(...before); button.classList.remove("sure"); };
    if (button.classList.contains("sure")) return then();
    button.classList.add("sure");
    button.textContent = question;
    button.addEventListener("blur", done, { once: true });
    button.focus();
  };

  const doing = {}; // by the value of `data-do`: what a button does
  const posted = []; // what is to be done when something was sent by a fragment
  const post = async ({ dataset }, data) => {
    if (await put(dataset.post, dataset.into, { ...data, open: state.talk || "" })) posted.forEach((then) => then(dataset.post));
  };
  document.addEventListener("click", (event) => {
    if (event.target === find("sheet")) return find("sheet").close(); // beside it
    const target = event.target.closest?.("[data-do], [data-get], [data-post], [data-sheet], [data-rate]");
    if (!target || target.matches("form")) return;
    const { dataset } = target;
    if (dataset.do in doing) { event.stopImmediatePropagation(); doing[dataset.do](target); }
    else if (dataset.sheet) doing.sheet(target);
    else if (dataset.rate) doing.rate(target);
    else if (dataset.get) put(dataset.get, dataset.into).then(() => { if (event.detail) find(dataset.into.slice(1)).scrollIntoView(); }); // by keyboard one leafs on
    else if (dataset.post) sure(target, dataset.sure, () => post(target));
  }, true);
  document.addEventListener("submit", (event) => {
    const form = event.target, { dataset } = form;
    if (form.id !== "options" && !dataset.get && !dataset.post && !dataset.rate) return;
    event.preventDefault();
    const data = Object.fromEntries(new FormData(form));
    if (dataset.rate) doing.rate(form, data.words);
    else if (dataset.get) put(dataset.get + "?" + new URLSearchParams(data), dataset.into);
    else if (dataset.post) post(form, data);
  }, true);
  let typing = 0;
  document.addEventListener("input", ({ target }) => {
    if (!target.form?.matches("[data-live]")) return;
    clearTimeout(typing);
    typing = setTimeout(() => target.form.requestSubmit(), 180);
  });

  return { find, state, keep, box, setBox, say, complain, fetched, text, put, settled, posted, sure, doing };
})();
