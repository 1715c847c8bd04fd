// The page's own script: puts the fragments that the server has rendered in their places, opens the evidence behind a
// citation, and keeps focus and scrolling where a reader expects them. It builds no HTML from data, stores nothing, and talks
// to nobody: everything arrives through Gradio, by `receive`. (Lists are sorted and filtered by lists.js.)
window.askPapers = (() => {
  const LOST_AFTER = 10000, LONGEST_QUESTION = 4000;
  const find = (id) => document.getElementById(id);
  const calm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
  const behavior = () => (calm() ? "instant" : "smooth");
  let busy = false, heard = 0, follow = true, cameFrom = null, lastTop = 0, top = "";

  const receive = (message) => {
    if (!message || !message.op) return;
    heard = Date.now();
    ({ start, live, final, note }[message.op] || (() => {}))(message);
  };

  const start = ({ masthead, welcome }) => {
    setMasthead(masthead);
    if (!find("log").querySelector(".turn")) find("log").innerHTML = welcome;
    focusBox();
  };

  const live = ({ turn, status }) => {
    if (!busy) begin();
    update(find("live"), turn);
    say("status", status || "Reading the question");
    keepUp(find("live").firstElementChild);
  };

  const final = ({ id, masthead, turn, evidence }) => {
    setBusy(false);
    say("status", "");
    find("live").replaceChildren();
    find("log").querySelector(".welcome")?.remove();
    if (!find(id)) find("log").insertAdjacentHTML("beforeend", turn);
    if (evidence && !find(id + "-sources")) find("panel").insertAdjacentHTML("beforeend", evidence);
    setMasthead(masthead);
    document.querySelector('[data-do="new"]').hidden = false;
    if (!find("panel").contains(document.activeElement)) showSources(id); // else someone is reading there
    speak(find(id)?.dataset.spoken || "");
    keepUp(find(id));
    setTimeout(focusBox, 120); // the box is enabled a moment later
  };

  const note = ({ note }) => {
    setBusy(false);
    say("status", "");
    say("note", note);
  };

  const begin = () => {
    follow = true;
    find("log").querySelector(".welcome")?.remove();
    say("note", "");
    speak("");
    setBusy(true);
  };

  // The question is on the page as soon as it is asked; the server's own form of it takes its place a moment later.
  const echo = () => {
    const question = box()?.value.trim();
    if (busy || !question || question.length > LONGEST_QUESTION) return;
    begin();
    const turn = document.createElement("article"), asked = document.createElement("h2");
    turn.className = "turn";
    turn.dataset.status = "draft";
    asked.className = "you";
    asked.textContent = question;
    turn.append(asked);
    find("live").replaceChildren(turn);
    say("status", "Reading the question");
    keepUp(turn);
    setTimeout(() => { // it was not sent after all: it is still in the box then
      if (!turn.isConnected || box().value.trim() !== question) return;
      find("live").replaceChildren();
      setBusy(false);
      say("status", "");
    }, 1500);
  };

  // What is there already stays as it is, so that a selection in it holds while more arrives.
  const update = (place, html) => {
    const fresh = document.createElement("template");
    fresh.innerHTML = html;
    const merge = (old, now) => {
      while (old.childNodes.length > now.childNodes.length) old.lastChild.remove();
      [...now.childNodes].forEach((node, i) => {
        const have = old.childNodes[i];
        if (!have) old.append(node);
        else if (have.isEqualNode(node)) return;
        else if (have.nodeType === 1 && have.nodeName === node.nodeName && have.className === node.className && have.matches("article, div, ul, ol")) merge(have, node);
        else have.replaceWith(node);
      });
    };
    merge(place, fresh.content);
  };

  const say = (id, words) => { if (find(id).textContent !== words) find(id).textContent = words; };
  const speak = (words) => {
    let spoken = find("spoken");
    if (!spoken) { // a screen reader hears the words of an answer from here: the log itself holds every link and button, too
      spoken = document.createElement("p");
      spoken.id = "spoken";
      spoken.className = "sr";
      spoken.setAttribute("aria-live", "polite");
      find("log").setAttribute("aria-live", "off");
      find("log").after(spoken);
    }
    spoken.textContent = words;
  };
  const setMasthead = (html) => { // not if it is the same: someone may be reading what opens in it
    if (html && html !== top) find("masthead").innerHTML = top = html;
  };
  const box = () => document.querySelector("#question textarea, #question input");
  const focusBox = () => { // not on a touch screen, where it would bring the keyboard up over the answer
    if (matchMedia("(pointer: fine)").matches && document.activeElement === document.body) box()?.focus({ preventScroll: true });
  };
  const setBusy = (now) => { busy = now; find("page").classList.toggle("answering", now); };

  // The newest turn grows into view, but its question is never pushed out of it; scrolling by hand ends this.
  const topEdge = () => (getComputedStyle(find("top")).position === "sticky" ? find("top").getBoundingClientRect().bottom : 0);
  const keepUp = (turn) => {
    if (!turn || !follow) return;
    const ask = find("foot").getBoundingClientRect(), place = turn.getBoundingClientRect();
    const over = place.bottom + 24 - ask.top;
    const by = Math.min(over, place.top - topEdge() - 4);
    if (by > 0) scrollBy({ top: by, behavior: "instant" });
    lastTop = scrollY;
  };
  for (const kind of ["wheel", "touchmove"]) addEventListener(kind, () => { follow = false; }, { passive: true });
  addEventListener("scroll", () => { // by the scroll bar, say
    if (scrollY < lastTop - 4) follow = false;
    lastTop = scrollY;
  }, { passive: true });

  // One turn's sources at a time, and never those of another.
  const showSources = (turn) => {
    let found = false;
    for (const section of document.querySelectorAll("#panel .sources")) {
      const wanted = section.dataset.turn === turn;
      if (wanted && section.hidden) find("panel").scrollTop = 0;
      section.hidden = !wanted;
      found ||= wanted;
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
    card.hidden = false;
    card.classList.add("on");
    card.querySelector("details").open = true;
    cameFrom = link;
    hideTip();
    document.querySelectorAll("mark.now").forEach((other) => other.classList.remove("now"));
    const said = link.parentElement.querySelector(".said")?.textContent.slice(1, 60);
    const marks = [...card.querySelectorAll("mark")], named = said && marks.find((each) => each.textContent.includes(said)), mark = named || marks[0];
    named?.classList.add("now");
    reveal(card, mark, behavior());
    const again = () => { if (card.classList.contains("on") && mark && hidden(mark)) reveal(card, mark, "instant"); };
    if (calm()) requestAnimationFrame(() => requestAnimationFrame(again)); else setTimeout(again, 700); // cards on the way may have turned out taller
    card.focus({ preventScroll: true });
  };
  const view = () => { // top and bottom of where evidence is seen: the panel, or the window where the panel is no column of its own
    const panel = find("panel"), place = panel.getBoundingClientRect(), inside = getComputedStyle(panel).overflowY === "auto";
    return { inside, top: inside ? place.top : topEdge(), bottom: inside ? Math.min(place.bottom, innerHeight) : innerHeight };
  };
  const hidden = (mark) => mark.getBoundingClientRect().bottom > view().bottom || mark.getBoundingClientRect().top < view().top;
  const reveal = (card, mark, behavior) => { // the card from its title on, or if the mark is too far down, the mark near the middle
    const { inside, top, bottom } = view(), begin = card.getBoundingClientRect().top, room = bottom - top - 56;
    const place = mark?.getBoundingClientRect(), far = place && place.bottom - begin > room;
    const by = far ? place.top - top - Math.max(40, (bottom - top - place.height) * 0.4) : begin - top - 16;
    const first = find("panel").scrollTop + by; // near the top, all of it
    if (inside) find("panel").scrollTo({ top: first < 120 && (!place || place.bottom - begin + 130 < room) ? 0 : first, behavior });
    else scrollBy({ top: by, behavior });
  };

  const goBack = () => {
    cameFrom?.scrollIntoView({ block: "center", behavior: behavior() });
    cameFrom?.focus({ preventScroll: true });
  };

  const ask = (question) => {
    if (busy || !box()) return;
    box().value = question;
    box().dispatchEvent(new Event("input", { bubbles: true }));
    setTimeout(() => find("send").click(), 0);
  };

  const copy = async (button) => {
    const text = button.parentElement.querySelector("pre").textContent, label = button.textContent;
    if (button.dataset.told) return;
    let done = true;
    try {
      await navigator.clipboard.writeText(text);
    } catch { // the clipboard is closed to pages that are not served from this machine or by https
      const area = document.body.appendChild(document.createElement("textarea"));
      area.value = text;
      area.select();
      done = document.execCommand("copy");
      area.remove();
      button.focus({ preventScroll: true });
    }
    button.textContent = button.dataset.told = done ? "Copied" : "Copying is not allowed here";
    speak(button.textContent);
    setTimeout(() => { button.textContent = label; delete button.dataset.told; }, 1600);
  };

  const allCards = (button) => {
    const later = [...button.closest(".part").querySelectorAll(".card[hidden]")];
    for (const card of later) card.hidden = false;
    button.parentElement.remove();
    later[0]?.focus({ preventScroll: true });
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
    const above = link.top - size.height - 6 - topEdge();
    tip.style.left = left + "px";
    tip.style.top = (above > edge ? above + topEdge() : link.bottom + 6) + "px";
  };
  const hideTip = () => { shown?.classList.remove("show"); shown = null; };

  const actions = { back: goBack, copy, cards: allCards, new: () => location.reload() };
  document.addEventListener("click", (event) => {
    const target = event.target.closest?.("a[data-turn], [data-do], [data-ask], #send");
    if (!target) return;
    if (target.matches("a[data-turn]")) { event.preventDefault(); openCard(target); }
    else if (target.id === "send") echo();
    else if (target.dataset.ask) ask(target.dataset.ask);
    else actions[target.dataset.do]?.(target);
  }, true);
  document.addEventListener("mouseover", (event) => {
    const ref = event.target.closest?.(".ref");
    if (ref) showTip(ref); else hideTip();
  });
  document.addEventListener("focusin", (event) => {
    if (event.target.matches?.("a.cite:focus-visible") && event.target.closest(".ref")) showTip(event.target.closest(".ref"));
  });
  document.addEventListener("focusout", hideTip);
  document.addEventListener("scroll", hideTip, true);
  document.addEventListener("keydown", (event) => {
    if (["PageUp", "PageDown", "Home", "End", "ArrowUp", "ArrowDown"].includes(event.key)) follow = false;
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing && event.target === box()) echo();
    if (event.key !== "Escape") return;
    if (shown) hideTip(); else if (busy) find("stop").click();
  }, true);
  setInterval(() => {
    if (!busy || Date.now() - heard < LOST_AFTER) return;
    say("status", "Nothing has come from Ask Papers for a while. If it was closed, start it again and reload this page.");
  }, 2000);

  return { receive, topEdge, keepUp };
})();
