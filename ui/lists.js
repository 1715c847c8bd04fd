// Lists of papers in answers: sorted by their headers, filtered by words, long ones cut short until all of them are wanted.
// Only ever moves and hides rows that the server has rendered.
(() => {
  const arrange = (found) => {
    const words = (found.querySelector(".filter")?.value || "").toLowerCase().split(/\s+/).filter(Boolean);
    const first = Number(found.dataset.first), rows = [...found.querySelectorAll("tbody tr")];
    let fitting = 0, shown = 0;
    for (const row of rows) {
      const text = row.textContent.toLowerCase(), fits = words.every((word) => text.includes(word));
      fitting += fits;
      row.hidden = !fits || ("all" in found.dataset ? false : shown >= first);
      shown += !row.hidden;
    }
    const tally = found.querySelector(".shown"), more = found.querySelector('[data-do="rows"]');
    if (tally) tally.textContent = shown < fitting ? `${count(shown)} of ${count(fitting)} shown` : fitting ? `${count(fitting)} shown` : "No paper fits";
    if (!more) return;
    more.parentElement.hidden = fitting <= first;
    more.textContent = "all" in found.dataset ? `Show the first ${first} only` : `Show all ${count(fitting)}`;
  };
  const count = (number) => number.toLocaleString("en");
  const byTitle = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });
  const sort = (button) => {
    const header = button.closest("th"), found = button.closest(".found"), body = found.querySelector("tbody"), key = button.dataset.sort;
    const down = header.getAttribute("aria-sort") === "ascending" || (key === "year" && header.getAttribute("aria-sort") === "none");
    for (const other of found.querySelectorAll("th[aria-sort]")) other.setAttribute("aria-sort", "none");
    header.setAttribute("aria-sort", down ? "descending" : "ascending");
    const number = (row) => Number(row.dataset.number), way = down ? -1 : 1;
    const compare = {
      number: (a, b) => way * (number(a) - number(b)),
      title: (a, b) => way * byTitle.compare(a.querySelector(".title bdi").textContent, b.querySelector(".title bdi").textContent),
      year: (a, b) => (!a.dataset.year - !b.dataset.year) || way * (Number(a.dataset.year) - Number(b.dataset.year)), // unknown years last
    }[key];
    body.append(...[...body.rows].sort((a, b) => compare(a, b) || number(a) - number(b)));
    arrange(found);
  };
  const allRows = (button) => {
    const found = button.closest(".found");
    if ("all" in found.dataset) delete found.dataset.all; else found.dataset.all = "";
    arrange(found);
    if (!("all" in found.dataset)) found.scrollIntoView({ block: "start", behavior: "instant" });
  };

  document.addEventListener("click", (event) => {
    const button = event.target.closest?.('[data-sort], [data-do="rows"]');
    if (button) (button.dataset.sort ? sort : allRows)(button);
  });
  document.addEventListener("input", (event) => {
    if (event.target.matches?.(".filter")) arrange(event.target.closest(".found"));
  });
})();
