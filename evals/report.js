// Chooses which half's figures and which cards are seen. Reads the page and nothing else; without it everything is shown.
(() => {
  "use strict";
  const STEP = 20;
  const all = (selector) => Array.from(document.querySelectorAll(selector));
  const cards = all(".card"), halves = all("[data-shown]"), buttons = all(".switch button"), more = document.getElementById("more");
  const inputs = { kind: document.getElementById("kind"), check: document.getElementById("check"), words: document.getElementById("words") };
  let half = document.body.dataset.half, limit = STEP;

  const failedOf = (card) => (card.dataset.checks ? card.dataset.checks.split(" ") : []);
  const fits = (card, wantedCheck) => {
    const { kind, words } = inputs;
    if (half !== "all" && card.dataset.half !== half) return false;
    if (kind.value && card.dataset.kind !== kind.value) return false;
    const failed = failedOf(card);
    if (wantedCheck === "-" ? failed.length : wantedCheck && !failed.includes(wantedCheck)) return false;
    const wanted = words.value.trim().toLowerCase();
    return !wanted || card.textContent.toLowerCase().includes(wanted);
  };

  const show = () => {
    let found = 0;
    for (const card of cards) {
      const fit = fits(card, inputs.check.value);
      if (fit) found += 1;
      card.hidden = !fit || found > limit;
    }
    const others = cards.filter((card) => fits(card, ""));
    for (const option of inputs.check.options)
      if (option.dataset.words) option.textContent = `${option.dataset.words} (${others.filter((card) => failedOf(card).includes(option.value)).length})`;
    for (const part of halves) part.hidden = part.dataset.shown !== half;
    for (const button of buttons) button.setAttribute("aria-pressed", String(button.value === half));
    const seen = Math.min(limit, found);
    document.getElementById("tally").textContent = found
      ? `Showing ${seen.toLocaleString("en")} of ${found.toLocaleString("en")} answers, worst first.`
      : "No answer fits these filters.";
    more.hidden = found <= limit;
    more.textContent = `Show ${Math.min(STEP, found - seen)} more`;
  };

  const afresh = () => { limit = STEP; show(); };
  const reveal = () => {
    let wanted = null;
    try { wanted = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1))); } catch { return; }
    if (wanted && wanted.classList.contains("card")) { wanted.hidden = false; wanted.scrollIntoView(); }
  };
  for (const button of buttons) button.addEventListener("click", () => { half = button.value; afresh(); });
  for (const input of Object.values(inputs)) input.addEventListener("input", afresh);
  more.addEventListener("click", () => { limit += STEP; show(); });
  addEventListener("hashchange", reveal);
  for (const part of all(".needs-script")) part.hidden = false;
  show();
  reveal();
})();
