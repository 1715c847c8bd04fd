// The sheets over the page: the library (finding, choosing, adding, removing papers) and the settings; and which papers are asked.
window.askPapersShelf = (() => {
  const { find, state, keep, box, complain, text, put, settled, sure, doing } = window.askPapersPanels;
  let picked = new Map(); // the ids of the chosen papers, with their titles

  const open = async (path) => {
    const more = path === "desk/settings" ? "?context=" + encodeURIComponent(JSON.stringify({ options: state.options })) : "";
    if (!find("sheet").open) find("sheet").showModal();
    find("sheet-body").innerHTML = "";
    picked = new Map();
    if (await put(path + more, "#sheet-body")) find("sheet").scrollTop = 0;
  };
  const close = () => { find("sheet").close(); box()?.focus(); };

  // Which papers are asked
  const setScope = (data, words) => { keep("scope", data ? { data, words } : null); showScope(); };
  const showScope = () => {
    find("scope").hidden = !state.scope;
    find("scope").querySelector("p").textContent = state.scope ? "Asking only " + state.scope.words : "";
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

  // Adding
  const seek = () => Object.fromEntries(new FormData(find("seek")));
  const renew = async () => { // the library or a setting has changed
    try {
      const now = JSON.parse(await text("desk/state?context=" + encodeURIComponent(JSON.stringify({ options: state.options }))));
      state.welcome = now.welcome;
      find("masthead").innerHTML = now.masthead;
      if (find("log").querySelector(".welcome")) find("log").innerHTML = now.welcome;
    } catch (error) { complain(error); }
  };
  const poll = async (item) => {
    if (!item.isConnected) return;
    const next = document.createElement("ul");
    try { next.innerHTML = await text(item.dataset.poll); } catch (error) { complain(error); return; }
    const now = next.firstElementChild;
    item.replaceWith(now);
    if (now.dataset.poll) return setTimeout(() => poll(now), 500);
    if (find("seek")) put("desk/shelf?" + new URLSearchParams(seek()), "#found");
    renew();
  };
  const add = async (files) => { // one after the other
    for (const file of files) {
      const item = document.createElement("ul"), most = +find("files").dataset.most;
      try {
        if (file.size > most) throw new Error(`It has ${(file.size / 1e6).toFixed(1)} MB, and ${most / 1e6} MB is the most for one file: divide it.`);
        item.innerHTML = await text("desk/papers?name=" + encodeURIComponent(file.name), file);
      } catch (error) {
        item.append(Object.assign(document.createElement("li"), { className: "bad", textContent: `${file.name} was not added. ${error.message}` }));
      }
      find("adding").append(item.firstElementChild);
      settled.forEach((then) => then(find("adding")));
      while (document.querySelector("#adding [data-poll]") && find("sheet").open) await new Promise((go) => setTimeout(go, 300));
    }
  };

  settled.push((place) => {
    showPicked();
    for (const each of place.querySelectorAll("[data-poll]")) setTimeout(() => poll(each), 500);
  });
  Object.assign(doing, {
    sheet: (button) => open(button.dataset.sheet),
    close,
    scope: (button) => { setScope(JSON.parse(button.dataset.scope), button.dataset.words); close(); },
    about: (button) => { setScope({ ids: [button.dataset.paper] }, `“${button.dataset.title}”`); close(); }, // on a card, and under a refusal
    "scope-all": () => { setScope(null); box()?.focus(); },
    "ask-chosen": () => { setScope({ ids: [...picked.keys()] }, pickedWords()); close(); },
    "choose-none": () => { picked = new Map(); showPicked(); },
    remove: (button) => sure(button, `Remove ${pickedWords()} from this library, for good?`, async () => {
      if (await put("desk/remove", "#found", { ids: [...picked.keys()], seek: seek() })) { picked = new Map(); showPicked(); renew(); }
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
  for (const kind of ["dragover", "drop"])
    document.addEventListener(kind, (event) => {
      if (!event.dataTransfer?.types.includes("Files")) return;
      event.preventDefault();
      const files = [...event.dataTransfer.files], place = find("drop");
      place?.classList.toggle("over", kind === "dragover");
      if (kind === "drop") (place ? Promise.resolve() : open("desk/library")).then(() => find("drop") && add(files));
    });
  document.addEventListener("dragleave", (event) => { if (!event.relatedTarget) find("drop")?.classList.remove("over"); });

  return { setScope, showScope };
})();
