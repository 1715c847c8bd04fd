// The page's own script: puts the fragments that the server has rendered in their places, opens the evidence behind a
// citation, and keeps focus and scrolling where a reader expects them. It builds no HTML from data, stores nothing, and
// talks to nobody: everything arrives through Gradio, by `receive`.
window.askPapers = (() => {
  const LOST_AFTER = 10000;
  const find = (id) => document.getElementById(id);
  const calm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
  let busy = false, heard = 0, follow = true, cameFrom = null;

  const receive = (message) => {
    if (!message || !message.op) return;
    heard = Date.now();
    ({ start, live, final, note }[message.op] || (() => {}))(message);
  };

  const start = ({ masthead, welcome }) => {
    find("masthead").innerHTML = masthead;
    if (!find("log").querySelector(".turn")) find("log").innerHTML = welcome;
    focusBox();
  };

  const live = ({ turn, status }) => {
    if (!busy) {
      follow = true;
      find("log").querySelector(".welcome")?.remove();
      say("note", "");
    }
    setBusy(true);
    find("live").innerHTML = turn;
    say("status", status || "Reading the question");
    keepUp(find("live").firstElementChild);
  };

  const final = ({ id, masthead, turn, evidence }) => {
    setBusy(false);
    say("status", "");
    find("live").innerHTML = "";
    find("log").querySelector(".welcome")?.remove();
    if (!find(id)) find("log").insertAdjacentHTML("beforeend", turn);
    if (evidence && !find(id + "-sources")) find("panel").insertAdjacentHTML("beforeend", evidence);
    find("masthead").innerHTML = masthead;
    document.querySelector('[data-do="new"]').hidden = false;
    showSources(id);
    keepUp(find(id));
    setTimeout(focusBox, 120); // the box is enabled a moment later
  };

  const note = ({ note }) => say("note", note);
  const say = (id, words) => { if (find(id).textContent !== words) find(id).textContent = words; };
  const box = () => document.querySelector("#question textarea, #question input");
  const focusBox = () => { // not on a touch screen, where it would bring the keyboard up over the answer
    if (matchMedia("(pointer: fine)").matches && document.activeElement === document.body) box()?.focus({ preventScroll: true });
  };
  const setBusy = (now) => { busy = now; find("page").classList.toggle("answering", now); };

  // The newest turn grows into view, but its question is never pushed out of it; scrolling by hand ends this.
  const keepUp = (turn) => {
    if (!turn || !follow) return;
    const ask = find("ask").getBoundingClientRect(), place = turn.getBoundingClientRect();
    const over = place.bottom + 48 - ask.top;
    const by = Math.min(over, place.top - 20);
    if (by > 0) scrollBy({ top: by, behavior: "instant" });
  };
  for (const kind of ["wheel", "touchmove"]) addEventListener(kind, () => { follow = false; }, { passive: true });

  // One turn's sources at a time, and never those of another.
  const showSources = (turn) => {
    let found = false;
    for (const section of document.querySelectorAll("#panel .sources")) {
      section.hidden = section.dataset.turn !== turn;
      found ||= !section.hidden;
    }
    const none = find("no-sources");
    none.hidden = found;
    none.textContent = "No papers to show for this question.";
  };

  const openCard = (link) => {
    const card = find(link.getAttribute("href").slice(1));
    if (!card) return;
    showSources(link.dataset.turn);
    document.querySelectorAll(".card.on").forEach((other) => other.classList.remove("on"));
    card.classList.add("on");
    card.querySelector("details").open = true;
    cameFrom = link;
    hideTip();
    document.querySelectorAll("mark.now").forEach((other) => other.classList.remove("now"));
    const said = link.parentElement.querySelector(".said")?.textContent.slice(1, 60);
    const mark = said && [...card.querySelectorAll("mark")].find((each) => each.textContent.includes(said));
    mark?.classList.add("now");
    const panel = find("panel"), behavior = calm() ? "instant" : "smooth";
    const inside = getComputedStyle(panel).overflowY === "auto", room = innerHeight * 0.7;
    const far = mark && mark.getBoundingClientRect().bottom - card.getBoundingClientRect().top > room;
    if (!inside) (far ? mark : card).scrollIntoView({ block: far ? "center" : "start", behavior });
    else {
      const top = (far ? mark : card).getBoundingClientRect().top - panel.getBoundingClientRect().top + panel.scrollTop;
      panel.scrollTo({ top: top - (far ? innerHeight * 0.3 : 16), behavior });
    }
    card.focus({ preventScroll: true });
  };

  const goBack = () => {
    cameFrom?.scrollIntoView({ block: "center", behavior: calm() ? "instant" : "smooth" });
    cameFrom?.focus({ preventScroll: true });
  };

  const copy = async (button) => {
    const text = button.parentElement.querySelector("pre").textContent;
    let done = true;
    try {
      await navigator.clipboard.writeText(text);
    } catch { // the clipboard is closed to pages that are not served from this machine or by https
      const area = document.body.appendChild(document.createElement("textarea"));
      area.value = text;
      area.select();
      done = document.execCommand("copy");
      area.remove();
    }
    button.textContent = done ? "Copied" : "Copying is not allowed here";
    setTimeout(() => { button.textContent = "Copy"; }, 1600);
  };

  const ask = (question) => {
    if (busy || !box() || box().disabled) return;
    box().value = question;
    box().dispatchEvent(new Event("input", { bubbles: true }));
    setTimeout(() => find("send").click(), 0);
  };

  // What hovering over a citation or focusing it shows, kept inside the window.
  let shown = null;
  const showTip = (ref) => {
    const tip = ref.querySelector(".tip"), link = ref.querySelector(".cite").getBoundingClientRect();
    if (shown === tip) return;
    hideTip();
    shown = tip;
    tip.classList.add("show");
    const size = tip.getBoundingClientRect(), edge = 12;
    const left = Math.max(edge, Math.min(link.left - 20, innerWidth - size.width - edge));
    const above = link.top - size.height - 4;
    tip.style.left = left + "px";
    tip.style.top = (above > edge ? above : link.bottom + 4) + "px";
  };
  const hideTip = () => { shown?.classList.remove("show"); shown = null; };

  document.addEventListener("click", (event) => {
    const target = event.target.closest?.("a[data-turn], [data-do], [data-ask]");
    if (!target) return;
    if (target.matches("a[data-turn]")) { event.preventDefault(); openCard(target); }
    else if (target.dataset.ask) ask(target.dataset.ask);
    else if (target.dataset.do === "back") goBack();
    else if (target.dataset.do === "copy") copy(target);
    else if (target.dataset.do === "new") location.reload();
  });
  document.addEventListener("mouseover", (event) => {
    const ref = event.target.closest?.(".ref");
    if (ref) showTip(ref); else hideTip();
  });
  document.addEventListener("focusin", (event) => {
    if (event.target.matches?.("a.cite:focus-visible")) showTip(event.target.closest(".ref"));
  });
  document.addEventListener("focusout", hideTip);
  document.addEventListener("scroll", hideTip, true);
  document.addEventListener("keydown", (event) => {
    if (["PageUp", "PageDown", "Home", "End", "ArrowUp", "ArrowDown"].includes(event.key)) follow = false;
    if (event.key !== "Escape") return;
    if (shown) hideTip(); else if (busy) find("stop").click();
  });
  setInterval(() => {
    if (busy && Date.now() - heard > LOST_AFTER)
      say("status", "Nothing has come from Ask Papers for a while. If it was closed, start it again and reload this page.");
  }, 2000);

  return { receive };
})();
