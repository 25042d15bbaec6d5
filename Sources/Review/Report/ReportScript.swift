/// The interactive part of the page. All of the page's content is there without it: the script only points out and filters.
enum ReportScript {
  static let source = """
    "use strict";
    for (const svg of document.querySelectorAll("svg[data-graph]")) {
      const near = (node) => {
        const key = node && node.dataset.node;
        svg.classList.toggle("dimmed", Boolean(key));
        for (const part of svg.querySelectorAll(".edge,.end")) {
          part.classList.toggle("near", Boolean(key) && (part.dataset.app === key || part.dataset.place === key));
        }
      };
      const nodeOf = (event) => event.target.closest("[data-node]");
      // Not on the picture itself: a focus listener there would make it a stop of its own.
      const area = svg.parentElement;
      area.addEventListener("pointerover", (event) => near(nodeOf(event)));
      area.addEventListener("pointerleave", () => near(null));
      area.addEventListener("focusin", (event) => near(nodeOf(event)));
      area.addEventListener("focusout", () => near(null));
    }
    for (const table of document.querySelectorAll("table[data-filter]")) {
      const rows = [...table.tBodies[0].rows];
      if (rows.length < 9) continue;
      const label = document.createElement("label");
      label.textContent = table.dataset.filter;
      const field = document.createElement("input");
      field.type = "search";
      field.id = "filter-" + table.id;
      field.autocomplete = "off";
      label.htmlFor = field.id;
      const status = document.createElement("span");
      status.setAttribute("role", "status");
      status.className = "quiet";
      const bar = document.createElement("div");
      bar.className = "filter";
      bar.append(label, field, status);
      table.parentElement.before(bar);
      field.addEventListener("input", () => {
        const words = field.value.toLowerCase().split(/\\s+/).filter(Boolean);
        let shown = 0;
        for (const row of rows) {
          const text = row.textContent.toLowerCase();
          row.hidden = !words.every((word) => text.includes(word));
          if (!row.hidden) shown += 1;
        }
        status.textContent = words.length ? shown + " of " + rows.length + " rows" : "";
      });
    }
    """
}
