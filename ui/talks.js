// The conversations: what is sent along with a question, what is done when its answer has come, and the list of those that are kept.
window.askPapersDesk = (() => {
  const LOST_AFTER = 12000;
  const { find, state, keep, box, setBox, say, complain, text, put, posted, doing } = window.askPapersPanels;
  const { setScope, showScope } = window.askPapersShelf;
  const page = window.askPapers, inner = page.receive;
  let replace = null, edited = false, before = "", run = "", waiting = false, asked = 0, unheard = "";
  const busy = () => find("page")?.classList.contains("answering");

  // What goes along with a question
  const context = () => JSON.stringify({ run, talk: state.talk, replace, scope: state.scope?.data, options: state.options });
  const asking = (question) => { // called by Gradio as it sends the question off
    run = [...crypto.getRandomValues(new Uint8Array(12))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
    if ((question || "").trim()) {
      find("log").querySelector(".welcome")?.remove();
      find("page").classList.add("answering");
      if (edited) { edited = false; showEditing(); }
      for (const turn of later(replace)) turn.classList.add("aside"); // it is gone when there is an answer instead
      if (!find("live").firstChild) {
        const turn = document.createElement("article"), words = document.createElement("h2");
        turn.className = "turn"; turn.dataset.status = "draft"; words.className = "you"; words.textContent = question.trim();
        turn.append(words);
        find("live").replaceChildren(turn);
        find("status").textContent = "Reading the question";
      }
      asked = Date.now();
      unheard = question;
      say("");
      setBox("");
    }
    return [question, context()];
  };

  // What arrives: page.js shows it, this file minds the rest
  page.receive = (message) => {
    if (!message?.op) return;
    const { op } = message;
    if (op !== "start") unheard = "";
    if (op === "note") idle(); // nothing was asked after all
    inner(message);
    if (op === "start") begun(message);
    if (op === "live") elapsed();
    if (op === "final") finished(message);
    if (op !== "note" && op !== "final") return;
    if (message.restore && !box().value) setBox(message.restore);
    if (waiting && op === "final" && box().value.trim()) setTimeout(() => find("send").click(), 150);
    waiting = false;
  };
  const idle = () => {
    asked = 0;
    elapsed();
    back();
    find("page").classList.remove("answering");
    find("live").replaceChildren();
    find("status").textContent = "";
    if (!find("log").children.length) find("log").innerHTML = state.welcome || "";
  };
  const begun = ({ welcome }) => {
    state.welcome = welcome;
    showScope();
    if (state.talk && !find("log").querySelector(".turn")) open(state.talk, true); else list();
  };
  const finished = ({ id, talk, replaced, restore, note }) => {
    asked = 0;
    elapsed();
    const number = replace;
    if (replaced) later(replaced).filter((turn) => turn.id !== id).forEach(drop);
    else if (back()) page.keepUp(find(id));
    editing(null);
    if (number && restore) editing(number); // the next try takes that place
    else if (before && !box().value) setBox(before);
    if (!replace) before = "";
    if (talk) keep("talk", talk);
    if (note) say(note);
    list();
    showScope();
    uncover();
  };
  const uncover = () => { // what stands above the box may have grown over the end of the last turn
    const turn = find("log").lastElementChild?.getBoundingClientRect(), foot = find("foot").getBoundingClientRect();
    const over = turn ? turn.bottom + 8 - foot.top : 0;
    if (over > 0 && over < 140) scrollBy({ top: Math.min(over, Math.max(0, turn.top - page.topEdge() - 4)), behavior: "instant" });
  };
  const elapsed = () => {
    const seconds = asked ? Math.floor((Date.now() - asked) / 1000) : 0;
    if (seconds >= 3) find("status").dataset.seconds = seconds + " s"; else delete find("status").dataset.seconds;
  };
  setInterval(() => {
    if (!asked) return;
    elapsed();
    if (!unheard || Date.now() - asked < LOST_AFTER) return;
    if (!box().value) setBox(unheard); // it never got there, so it is not lost
    unheard = "";
    idle();
    say("Ask Papers doesn’t answer. If it was closed, start it again and reload this page; your question is still in the box.");
  }, 1000);

  // Conversations
  const drop = (turn) => { find(turn.id + "-sources")?.remove(); turn.remove(); };
  const list = () => put("desk/talks?open=" + encodeURIComponent(state.talk || ""), "#talks");
  const clear = () => {
    document.querySelectorAll("#log .turn").forEach(drop);
    find("log").replaceChildren();
    find("no-sources").hidden = false;
    say("");
    if (edited) setBox(before);
    before = "";
    editing(null);
  };
  const open = async (id, again) => {
    if (busy()) return say("An answer is on its way. Stop it, or wait for it, then open another conversation.");
    let found;
    try { found = JSON.parse(await text("desk/talks/" + encodeURIComponent(id))); } catch (error) {
      if (!again) complain(error);
      keep("talk", null);
      return list();
    }
    clear();
    keep("talk", id);
    const masthead = find("masthead").innerHTML;
    for (const turn of found.turns) inner({ op: "final", masthead, ...turn });
    if (find("spoken")) find("spoken").textContent = ""; // it is no news
    if (!again) find("log").lastElementChild?.scrollIntoView({ block: "start" });
    folded(true);
    list();
  };
  const fresh = () => {
    if (busy()) return say("An answer is on its way. Stop it, or wait for it, then begin a new conversation.");
    clear();
    keep("talk", null);
    setScope(null); // it belonged to what was talked about
    find("log").innerHTML = state.welcome || "";
    folded(true);
    list();
    scrollTo({ top: 0 });
    box()?.focus({ preventScroll: true });
  };
  const folded = (now) => { // on a small screen the list is opened by its button
    find("desk").classList.toggle("open", !now);
    document.querySelector('[data-do="talks"]').setAttribute("aria-expanded", String(!now));
  };
  posted.push((path) => { if (path === `desk/talks/${state.talk}/delete`) fresh(); });

  // A turn: another wording, another try, an opinion
  const numbered = (turn) => +turn.querySelector(".tools")?.dataset.number || 0;
  const later = (number) => (number ? [...document.querySelectorAll("#log .turn")].filter((turn) => numbered(turn) >= number) : []);
  const back = () => { // what was put aside is shown again; whether there was any
    const aside = document.querySelectorAll("#log .turn.aside");
    aside.forEach((turn) => turn.classList.remove("aside"));
    return aside.length > 0;
  };
  const editing = (number) => { replace = number; edited = Boolean(number); showEditing(); uncover(); };
  const showEditing = () => {
    const turns = edited ? later(replace) : [], more = turns.length - 1;
    document.querySelectorAll("#log .turn.edited").forEach((turn) => turn.classList.remove("edited"));
    turns[0]?.classList.add("edited");
    find("editing").hidden = !turns.length;
    find("editing").querySelector("p").textContent = turns.length ? `Editing a question. The new answer takes the place of ${more ? `this one and the ${more > 1 ? more + " turns" : "turn"} after it` : "the old one"}.` : "";
  };
  const editNot = () => { editing(null); setBox(before); before = ""; box().focus(); };
  const rate = async (from, words) => {
    const tools = from.closest(".tools"), place = tools.querySelector(".rate");
    try {
      const sent = { number: +tools.dataset.number, vote: from.dataset.rate, ...(words === undefined ? {} : { words }) };
      place.innerHTML = await text(`desk/talks/${encodeURIComponent(state.talk)}/rate`, sent);
      (place.querySelector("input") || place.querySelector('[aria-pressed="true"]'))?.focus();
    } catch (error) { complain(error); }
  };
  Object.assign(doing, {
    fresh, new: fresh, rate,
    talks: () => folded(find("desk").classList.contains("open")),
    open: (button) => open(button.closest("[data-talk]").dataset.talk),
    edit: (button) => {
      if (busy()) return say("An answer is on its way. Stop it, or wait for it, then edit a question.");
      const tools = button.closest(".tools");
      if (!edited) before = box().value;
      setBox(tools.dataset.question);
      editing(+tools.dataset.number || null); // one that could not be kept is asked anew
      box().focus();
      box().setSelectionRange(box().value.length, box().value.length);
    },
    "edit-not": editNot,
    again: (button) => {
      if (busy()) return;
      const tools = button.closest(".tools");
      editing(null);
      before = box().value;
      replace = +tools.dataset.number || null;
      setBox(tools.dataset.question);
      setTimeout(() => find("send").click(), 0);
    },
  });

  // A question may be typed, and handed in, while an answer is on its way: it is asked when that is there.
  addEventListener("keydown", (event) => { // of the window: before anything else hears of it
    if (event.key === "Escape" && find("sheet").open) event.stopImmediatePropagation(); // it closes the sheet, and stops no answer
    else if (event.key === "Escape" && find("desk").classList.contains("open")) { folded(true); document.querySelector('[data-do="talks"]').focus(); }
    else if (event.key === "Escape" && edited && !document.querySelector(".tip.show")) { event.stopImmediatePropagation(); editNot(); }
    if (event.key !== "Enter" || event.shiftKey || event.isComposing || event.target !== box() || !busy()) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    waiting = Boolean(box().value.trim());
    if (waiting) say("This will be asked when the answer is complete.");
  }, true);

  return { context, asking, within: (ids, words) => setScope(ids?.length ? { ids } : null, words) };
})();
