// The sheets over the page: the library (finding, choosing, adding, removing papers) and the settings; and which papers are asked.
window.askPapersShelf = (() => {
  const { find, state, keep, box, complain, text, put, settled, sure, doing } = window.askPapersPanels;
  let picked = new Map(); // the ids of the chosen papers, with their titles

  const open = async (path) => {
    const more = path === "desk/settings" ? "?context=" + encodeURIComponent(JSON.stringify({ options: state.options })) : "";
    if (!find("sheet").open) find("sheet").showModal();
    find("sheet-body").innerHTML = "";
    picked = new Map();
    if (!(await put(path + more, "#sheet-body"))) return;
    find("sheet").scrollTop = 0;
    if (matchMedia("(pointer: fine)").matches && document.activeElement?.matches("#sheet > .close")) find("seek")?.elements.find.focus();
  };
  const close = () => { find("sheet").close(); box()?.focus(); };
  document.addEventListener("close", () => setTimeout(() => { // the focus goes back to what opened it, if that is still there
    if (document.activeElement === document.body) box()?.focus({ preventScroll: true });
  }), true);

  // Which papers are asked. The server says it in words: papers may have been added or removed since.
  const setScope = (data, words) => { keep("scope", data ? { data, words } : null); showScope(); };
  const showScope = () => {
    const place = find("scope"), words = state.scope ? "Asking only " + state.scope.words : "";
    if (place.hidden !== !state.scope || place.dataset.words !== words) place.querySelector("p").textContent = place.dataset.words = words;
    place.hidden = !state.scope;
    if (state.scope) put("desk/scope", "#scope p", state.scope.data);
  };

  // Choosing
  const showPicked = () => {
    const place = find("chosen");
    if (!place) return;
    place.hidden = !picked.size;
    place.querySelector("b").textContent = picked.size.toLocaleString("en");
    for (const each of document.querySelectorAll("#found [data-pick]")) each.checked = picked.has(each.dataset.pick);
  };
  const pickedWords = () => (picked.size === 1 ? "“" + [...picked.values()][0] + "”" : `${picked.size.toLocaleString("en")} chosen papers`);

  // Reading
  document.addEventListener("toggle", ({ target }) => { // fetched when it is opened for the first time
    const place = target.matches?.("details.abstract[open]") && target.querySelector("div");
    if (place && !place.firstChild) put("desk/abstract?" + new URLSearchParams({ id: target.dataset.paper }), "#" + place.id);
  }, true);

  // Adding
  const seek = () => Object.fromEntries(new FormData(find("seek")));
  const renew = async () => { // the library or a setting has changed
    try {
      const now = JSON.parse(await text("desk/state?context=" + encodeURIComponent(JSON.stringify({ options: state.options }))));
      state.welcome = now.welcome;
      find("masthead").innerHTML = now.masthead;
      if (find("log").querySelector(".welcome")) find("log").innerHTML = now.welcome;
      showScope();
      const places = find("seek")?.elements.venue, venue = places?.value;
      if (!places) return;
      places.innerHTML = now.venues;
      places.parentElement.hidden = places.options.length < 2;
      places.value = venue;
      if (places.value === venue) return;
      places.value = ""; // the last paper of that venue has gone
      await put("desk/shelf?" + new URLSearchParams(seek()), "#found");
    } catch (error) { complain(error); }
  };
  const poll = async (item) => {
    if (!item.isConnected) return;
    const next = document.createElement("ul");
    try { next.innerHTML = await text(item.dataset.poll + (find("sheet").open ? "?seen=1" : "")); } catch (error) { complain(error); return; }
    const now = next.firstElementChild;
    item.replaceWith(now);
    if (now.dataset.poll) return setTimeout(() => poll(now), 500);
    if (find("seek")) put("desk/shelf?" + new URLSearchParams(seek()), "#found");
    renew();
  };
  const pause = (ms) => new Promise((go) => setTimeout(go, ms));
  const foldAway = () => { // the reports of earlier files
    const before = find("added-before"), old = document.querySelectorAll("#adding > li:not([data-poll])");
    before.lastElementChild.prepend(...[...old].reverse());
    before.hidden = !before.lastElementChild.children.length;
    before.firstElementChild.textContent = `Earlier files (${before.lastElementChild.children.length})`;
  };
  const unfit = async (file, folder, most) => { // why a file is not even sent
    const size = (file.size / 1e6).toFixed(file.size < 100e6 ? 1 : 0);
    if (folder) return "It is a folder: drop the files in it, or add it in a terminal with: askpapers add FOLDER";
    if (file.size > most) return `It has ${size} MB, and ${most / 1e6} MB is the most for one file. Divide it, or add it in a terminal with: askpapers add FILE`;
    try { await file.slice(0, 1).arrayBuffer(); } catch { return "It can’t be read: it may have been moved, or is not yours to read."; }
    return "";
  };
  const add = async (files, folders = new Set()) => { // one after the other
    const most = +find("files").dataset.most;
    foldAway();
    for (const file of files) {
      const item = document.createElement("ul");
      try {
        const why = await unfit(file, folders.has(file), most);
        if (why) throw new Error(why);
        item.innerHTML = await text("desk/papers?name=" + encodeURIComponent(file.name), file);
      } catch (error) {
        item.append(Object.assign(document.createElement("li"), { className: "bad", textContent: `${file.name} was not added. ${error.message}` }));
      }
      while (find("sheet").open && !find("adding")) await pause(100); // just being opened again
      if (!find("adding")) continue;
      find("adding").append(item.firstElementChild);
      settled.forEach((then) => then(find("adding")));
      while (document.querySelector("#adding [data-poll]") && find("sheet").open) await pause(300);
    }
  };

  settled.push((place) => {
    showPicked();
    for (const each of place.querySelectorAll("[data-poll]")) setTimeout(() => poll(each), 500);
  });
  Object.assign(doing, {
    sheet: (button) => open(button.dataset.sheet),
    close: () => find("sheet").close(),
    scope: (button) => { setScope(JSON.parse(button.dataset.scope), button.dataset.words); close(); },
    about: (button) => { setScope({ ids: [button.dataset.paper] }, `“${button.dataset.title}”`); close(); }, // on a card, and under a refusal
    "scope-all": () => { setScope(null); box()?.focus(); },
    "ask-chosen": () => { setScope({ ids: [...picked.keys()] }, pickedWords()); close(); },
    "choose-none": () => { picked = new Map(); showPicked(); find("found").querySelector("[data-pick]")?.focus(); },
    remove: (button) => sure(button, `Remove ${pickedWords()} from this library, for good?`, async () => {
      const gone = picked;
      picked = new Map();
      if (await put("desk/remove", "#found", { ids: [...gone.keys()], seek: seek() })) return renew();
      picked = gone;
      showPicked();
    }),
  });
  document.addEventListener("change", ({ target }) => {
    if (target.dataset.pick) {
      if (target.checked) picked.set(target.dataset.pick, target.dataset.title); else picked.delete(target.dataset.pick);
      showPicked();
    } else if (target.id === "files") { add([...target.files]); target.value = ""; }
    else if (target.form?.id === "options") {
      const data = Object.fromEntries(new FormData(target.form));
      keep("options", { quotes_only: data.quotes_only === "true", papers: data.papers, second_check: data.second_check });
      renew();
    }
  });
  const dropped = async ({ files, items }) => {
    const all = [...files], kinds = [...items].filter((each) => each.kind === "file").map((each) => each.webkitGetAsEntry?.()?.isDirectory);
    const folders = new Set(all.filter((_, i) => kinds[i]));
    if (!find("drop") || !find("sheet").open) await open("desk/library");
    if (find("drop")) add(all, folders); else complain(new Error("Nothing was added: on this page papers can’t be added or removed."));
  };
  for (const kind of ["dragover", "drop"])
    document.addEventListener(kind, (event) => {
      if (!event.dataTransfer?.types.includes("Files")) return;
      event.preventDefault();
      find("drop")?.classList.toggle("over", kind === "dragover");
      if (kind === "drop") dropped(event.dataTransfer);
    });
  document.addEventListener("dragleave", (event) => { if (!event.relatedTarget) find("drop")?.classList.remove("over"); });

  return { setScope, showScope };
})();
