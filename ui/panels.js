// What stands around the answers: the conversations, the library, the settings, and what is sent along with a question. Fragments
// come from the server, as in page.js; this file asks for them and puts them in place. It builds no HTML from data. Kept in the
// browser, for this tab: which conversation is open, which papers are asked, which settings were changed.
window.askPapersDesk = (() => {
  const find = (id) => document.getElementById(id);
  const page = window.askPapers, inner = page.receive;
  const kept = (name) => { try { return JSON.parse(sessionStorage.getItem("askpapers " + name)); } catch { return null; } };
  const keep = (name, value) => { try { sessionStorage.setItem("askpapers " + name, JSON.stringify(value)); } catch { /* it is asked for less comfort */ } };
  let talk = kept("talk"), scope = kept("scope"), options = kept("options") || {}, replace = null, run = "";
  let welcome = "", waiting = false, asked = 0, picked = new Map();

  const box = () => document.querySelector("#question textarea, #question input");
  const busy = () => find("page")?.classList.contains("answering");
  const setBox = (text) => {
    if (!box()) return;
    box().value = text;
    box().dispatchEvent(new Event("input", { bubbles: true }));
  };
  const say = (words) => { find("note").textContent = words || ""; };

  // Talking to the server
  const root = () => {
    let path = location.pathname;
    try { path = new URL(window.gradio_config.root, location.href).pathname; } catch { /* where we are */ }
    return path.endsWith("/") ? path : path + "/";
  };
  const fetched = async (path, body) => {
    const sent = body === undefined ? {} : body instanceof Blob ? { method: "POST", body } : { method: "POST", body: JSON.stringify(body) };
    if (sent.method) sent.headers = { "content-type": body instanceof Blob ? "application/octet-stream" : "application/json" };
    let answer;
    try { answer = await fetch(root() + path, sent); } catch {
      throw new Error("Ask Papers can’t be reached. If it was closed, start it again and reload this page.");
    }
    if (!answer.ok) throw new Error((await answer.text()).slice(0, 500) || `The server answered ${answer.status}.`);
    return answer;
  };
  const complain = (error) => {
    if (find("sheet").open) find("sheet-note").textContent = error.message; else say(error.message);
  };
  const put = async (path, into, body) => { // false if it went wrong, which has been said then
    try {
      if (find("sheet").open) find("sheet-note").textContent = "";
      const html = await (await fetched(path, body)).text();
      const place = document.querySelector(into);
      if (place) place.innerHTML = html;
      settle(place);
      return true;
    } catch (error) { complain(error); return false; }
  };

  // What goes along with a question
  const context = () => JSON.stringify({ run, talk, replace, scope: scope?.data, options });
  const asking = (question) => {
    run = [...crypto.getRandomValues(new Uint8Array(12))].map((b) => b.toString(16).padStart(2, "0")).join("");
    if ((question || "").trim()) {
      find("log").querySelector(".welcome")?.remove();
      find("page").classList.add("answering");
      const turn = document.createElement("article"), words = document.createElement("h2");
      turn.className = "turn"; turn.dataset.status = "draft"; words.className = "you"; words.textContent = question.trim();
      turn.append(words);
      find("live").replaceChildren(turn);
      find("status").textContent = "Reading the question";
      asked = Date.now();
      say("");
      setBox("");
    }
    return [question, context()];
  };

  const receive = (message) => {
    if (!message?.op) return;
    const { op } = message;
    if (op === "note") { // nothing was asked after all
      find("page").classList.remove("answering");
      find("live").replaceChildren();
      find("status").textContent = "";
      if (!find("log").children.length) find("log").innerHTML = welcome;
    }
    inner(message);
    if (op === "start") begun(message);
    if (op === "live") elapsed();
    if (op === "final") finished(message);
    if (op === "note" || op === "final") {
      if (message.restore && !box().value) setBox(message.restore);
      if (waiting) { waiting = false; if (op === "final" && box().value.trim()) setTimeout(() => find("send").click(), 150); }
    }
  };

  const begun = (message) => {
    welcome = message.welcome;
    showScope();
    if (talk && !find("log").querySelector(".turn")) open(talk, true); else list();
  };

  const finished = ({ talk: id, replaced, note }) => {
    asked = 0;
    elapsed();
    if (replaced)
      for (const tools of [...document.querySelectorAll("#log .turn .tools")].slice(0, -1))
        if (+tools.dataset.number >= replaced) drop(tools.closest(".turn"));
    replace = null;
    find("editing").hidden = true;
    if (id && id !== talk) { talk = id; keep("talk", talk); }
    if (note) say(note);
    list();
  };
  const drop = (turn) => { find(turn.id + "-sources")?.remove(); turn.remove(); };
  const elapsed = () => {
    const seconds = asked ? Math.floor((Date.now() - asked) / 1000) : 0;
    if (seconds >= 3) find("status").dataset.seconds = seconds + " s"; else delete find("status")?.dataset.seconds;
  };
  setInterval(() => { if (asked) elapsed(); }, 1000);

  // Conversations
  const list = () => put("desk/talks?open=" + encodeURIComponent(talk || ""), "#talks");
  const clear = () => {
    document.querySelectorAll("#log .turn").forEach(drop);
    find("log").replaceChildren();
    say("");
    replace = null;
    find("editing").hidden = true;
    if (find("no-sources")) find("no-sources").hidden = false;
  };
  const open = async (id, quietly) => {
    if (busy()) return say("An answer is on its way. Stop it, or wait for it, then open another conversation.");
    let found;
    try { found = await (await fetched("desk/talks/" + encodeURIComponent(id))).json(); } catch (error) {
      if (!quietly) complain(error);
      talk = null; keep("talk", null);
      return list();
    }
    clear();
    talk = id; keep("talk", talk);
    find("log").setAttribute("aria-live", "off");
    const masthead = find("masthead").innerHTML;
    for (const turn of found.turns) inner({ op: "final", masthead, ...turn });
    setTimeout(() => find("log").setAttribute("aria-live", "polite"), 500);
    if (!quietly) find("log").lastElementChild?.scrollIntoView({ block: "start" });
    folded(true);
    list();
  };
  const fresh = () => {
    if (busy()) return say("An answer is on its way. Stop it, or wait for it, then begin a new conversation.");
    clear();
    talk = null; keep("talk", null);
    find("log").innerHTML = welcome;
    folded(true);
    list();
    scrollTo({ top: 0 });
    box()?.focus({ preventScroll: true });
  };
  const folded = (now) => { // on a small screen the list is opened by its button
    find("desk").classList.toggle("open", !now);
    document.querySelector('[data-do="talks"]').setAttribute("aria-expanded", String(!now));
  };

  // Which papers are asked
  const setScope = (data, words) => { scope = data ? { data, words } : null; keep("scope", scope); showScope(); };
  const showScope = () => {
    const place = find("scope");
    place.hidden = !scope;
    place.querySelector("p").textContent = scope ? "Asking only " + scope.words : "";
  };
  const showPicked = () => {
    const place = find("chosen");
    if (!place) return;
    place.hidden = !picked.size;
    place.querySelector("b").textContent = picked.size.toLocaleString("en");
    for (const each of document.querySelectorAll("#found [data-pick]")) each.checked = picked.has(each.dataset.pick);
  };
  const pickedWords = () => picked.size === 1 ? "“" + [...picked.values()][0] + "”" : `${picked.size.toLocaleString("en")} chosen papers`;

  // Sheets
  const sheet = async (path) => {
    const more = path === "desk/settings" ? "?context=" + encodeURIComponent(JSON.stringify({ options })) : "";
    if (!find("sheet").open) find("sheet").showModal();
    find("sheet-body").innerHTML = "";
    find("sheet-note").textContent = "";
    picked = new Map();
    if (await put(path + more, "#sheet-body")) find("sheet").scrollTop = 0;
  };
  const seek = () => Object.fromEntries(new FormData(find("seek")));
  const settle = (place) => { // what a new fragment needs: choices shown, polling begun, one question before what can't be undone
    showPicked();
    for (const each of place?.querySelectorAll("[data-poll]") || []) setTimeout(() => poll(each), 500);
  };
  const poll = async (item) => {
    if (!item.isConnected) return;
    const next = document.createElement("ul");
    try { next.innerHTML = await (await fetched(item.dataset.poll)).text(); } catch (error) { complain(error); return; }
    const now = next.firstElementChild;
    item.replaceWith(now);
    if (now.dataset.poll) return setTimeout(() => poll(now), 500);
    if (find("seek")) put("desk/shelf?" + new URLSearchParams(seek()), "#found");
    renew();
  };
  const renew = async () => { // the library or a setting has changed
    try {
      const now = await (await fetched("desk/state?context=" + encodeURIComponent(JSON.stringify({ options })))).json();
      welcome = now.welcome;
      find("masthead").innerHTML = now.masthead;
      if (find("log").querySelector(".welcome")) find("log").innerHTML = welcome;
    } catch (error) { complain(error); }
  };
  const add = async (files) => {
    for (const file of files) {
      const item = document.createElement("ul"), most = +find("files").dataset.most;
      try {
        if (file.size > most) throw new Error(`It has ${(file.size / 1e6).toFixed(1)} MB, and ${most / 1e6} MB is the most for one file: divide it.`);
        item.innerHTML = await (await fetched("desk/papers?name=" + encodeURIComponent(file.name), file)).text();
      } catch (error) {
        item.append(Object.assign(document.createElement("li"), { className: "bad", textContent: `${file.name} was not added. ${error.message}` }));
      }
      const made = item.firstElementChild;
      find("adding").append(made);
      settle(find("adding"));
      while (document.querySelector("#adding [data-poll]") && find("sheet").open) await new Promise((go) => setTimeout(go, 300));
    }
  };
  const sure = (button, question, then) => { // asks in place; moving on means no
    const before = [...button.childNodes], done = () => { button.replaceChildren(...before); button.classList.remove("sure"); };
    if (button.classList.contains("sure")) { done(); return then(); }
    button.classList.add("sure");
    button.textContent = question;
    button.addEventListener("blur", done, { once: true });
    button.focus();
  };

  const rate = async (from, vote, words) => {
    const tools = from.closest(".tools"), place = tools.querySelector(".rate");
    try {
      const sent = { number: +tools.dataset.number, vote, words };
      place.innerHTML = await (await fetched(`desk/talks/${encodeURIComponent(talk)}/rate`, sent)).text();
      place.querySelector("input")?.focus();
    } catch (error) { complain(error); }
  };

  const doing = {
    fresh, new: fresh,
    talks: () => folded(find("desk").classList.contains("open")),
    open: (button) => open(button.closest("[data-talk]").dataset.talk),
    close: () => find("sheet").close(),
    scope: (button) => { setScope(JSON.parse(button.dataset.scope), button.dataset.words); find("sheet").close(); box()?.focus(); },
    "scope-all": () => { setScope(null); box()?.focus(); },
    "ask-chosen": () => { setScope({ ids: [...picked.keys()] }, pickedWords()); find("sheet").close(); box()?.focus(); },
    "choose-none": () => { picked = new Map(); showPicked(); },
    remove: (button) => sure(button, `Remove ${pickedWords()} from this library, for good?`, async () => {
      if (await put("desk/remove", "#found", { ids: [...picked.keys()], seek: seek() })) { picked = new Map(); showPicked(); renew(); }
    }),
    edit: (button) => {
      const tools = button.closest(".tools");
      setBox(tools.dataset.question);
      replace = tools.closest(".turn").matches(":last-child") && +tools.dataset.number || null;
      find("editing").hidden = !replace;
      box().focus();
    },
    "edit-not": () => { replace = null; find("editing").hidden = true; setBox(""); box().focus(); },
    again: (button) => {
      if (busy()) return;
      const tools = button.closest(".tools");
      replace = +tools.dataset.number || null;
      setBox(tools.dataset.question);
      setTimeout(() => find("send").click(), 0);
    },
  };

  document.addEventListener("click", (event) => {
    const target = event.target.closest?.("[data-do], [data-get], [data-post], [data-sheet], [data-rate]");
    if (!target || target.matches("form")) return;
    const { dataset } = target;
    if (dataset.do in doing) { event.stopImmediatePropagation(); doing[dataset.do](target); }
    else if (dataset.sheet) sheet(dataset.sheet);
    else if (dataset.rate) rate(target, dataset.rate, "");
    else if (dataset.get) put(dataset.get, dataset.into);
    else if (dataset.post) sure(target, dataset.sure, async () => {
      const own = target.closest("[data-talk]")?.dataset.talk === talk;
      if (await put(dataset.post, dataset.into, { open: talk || "" }) && own && dataset.post.endsWith("/delete")) fresh();
    });
  }, true);
  document.addEventListener("submit", (event) => {
    const form = event.target, { dataset } = form;
    if (form.id === "options") return event.preventDefault();
    if (!dataset.get && !dataset.post && !dataset.rate) return;
    event.preventDefault();
    const data = Object.fromEntries(new FormData(form));
    if (dataset.rate) rate(form, dataset.rate, data.words);
    else if (dataset.get) put(dataset.get + "?" + new URLSearchParams(data), dataset.into);
    else put(dataset.post, dataset.into, { ...data, open: talk || "" });
  }, true);
  let typing = 0;
  document.addEventListener("input", (event) => {
    const form = event.target.form;
    if (form?.matches("[data-live]")) { clearTimeout(typing); typing = setTimeout(() => form.requestSubmit(), 180); }
  });
  document.addEventListener("change", (event) => {
    const { target } = event;
    if (target.dataset.pick) {
      if (target.checked) picked.set(target.dataset.pick, target.dataset.title); else picked.delete(target.dataset.pick);
      showPicked();
    } else if (target.id === "files") { add([...target.files]); target.value = ""; }
    else if (target.form?.id === "options") {
      const data = Object.fromEntries(new FormData(target.form));
      options = { quotes_only: data.quotes_only === "true", papers: data.papers };
      keep("options", options);
      renew();
    }
  });
  // A question may be typed, and handed in, while an answer is on its way: it is asked when that is there.
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing || event.target !== box() || !busy()) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    waiting = Boolean(box().value.trim());
    if (waiting) say("This will be asked when the answer is complete.");
  }, true);
  for (const kind of ["dragover", "drop"])
    document.addEventListener(kind, (event) => {
      if (!event.dataTransfer?.types.includes("Files")) return;
      event.preventDefault();
      const place = find("drop");
      place?.classList.toggle("over", kind === "dragover");
      const files = [...event.dataTransfer.files];
      if (kind === "drop") (place ? Promise.resolve() : sheet("desk/library")).then(() => find("drop") && add(files));
    });
  document.addEventListener("click", (event) => { if (event.target === find("sheet")) find("sheet").close(); });

  page.receive = receive;
  return { context, asking, within: (ids, words) => setScope(ids?.length ? { ids } : null, words) };
})();
