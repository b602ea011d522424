import { el } from "./text.js";

const mostRows = 400;

// windowedList shows as many of its items as fit, in a space as high as all of them. All have the same height: that of
// class row. draw(item, index, items) makes the element of an item, a link or a heading. The heads of the columns stay in sight.
export function windowedList(label, draw, heads) {
  const probe = el("div", { class: "row", "aria-hidden": "true" });
  const space = el("div", { class: "space", role: "list", "aria-label": label });
  const node = el("div", { class: "list", tabindex: 0, role: "region", "aria-label": label }, el("div", { class: "probe" }, probe), heads, space);
  const shown = new Map(); // item → element
  let items = [], height = 36, active = 0, asked = 0;

  const focused = () => space.contains(document.activeElement);
  const place = (item, index) => {
    let row = shown.get(item);
    if (!row) {
      row = draw(item, index, items);
      row.classList.add("row");
      row.firstElementChild.tabIndex = -1; // the arrow keys reach it
      shown.set(item, row);
      space.append(row);
    }
    row.style.top = index * height + "px";
    row.setAttribute("aria-setsize", items.length);
    row.setAttribute("aria-posinset", index + 1);
  };
  const render = () => {
    asked = 0;
    const fit = Math.ceil(node.clientHeight / height);
    const first = Math.max(0, Math.floor(node.scrollTop / height) - 8);
    const end = Math.min(items.length, first + Math.min(mostRows, fit + 16));
    const wanted = new Set(items.slice(first, end));
    for (const [item, row] of shown) {
      if (wanted.has(item)) continue;
      if (row.contains(document.activeElement)) node.focus({ preventScroll: true });
      row.remove();
      shown.delete(item);
    }
    for (let i = first; i < end; i++) place(items[i], i);
  };
  const soon = () => { asked ||= requestAnimationFrame(render); };
  const measure = () => {
    height = probe.offsetHeight || height;
    space.style.height = items.length * height + "px";
    soon();
  };
  const go = (index, step) => {
    while (items[index]?.day && index + step >= 0 && index + step < items.length) index += step; // a heading takes no focus
    active = Math.max(0, Math.min(items.length - 1, index));
    const top = active * height, bottom = top + height + heads.offsetHeight - node.clientHeight;
    if (node.scrollTop > top) node.scrollTop = Math.max(0, top - height);
    else if (node.scrollTop < bottom) node.scrollTop = bottom;
    render();
    shown.get(items[active])?.querySelector("a")?.focus({ preventScroll: true });
  };

  node.addEventListener("scroll", soon, { passive: true });
  node.addEventListener("focusin", (event) => {
    for (const [item, row] of shown) if (row.contains(event.target)) active = items.indexOf(item);
  });
  node.addEventListener("keydown", (event) => {
    const page = Math.max(1, Math.floor(node.clientHeight / height) - 1);
    const steps = { ArrowDown: focused() ? 1 : 0, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -items.length, End: items.length };
    if (!(event.key in steps) || event.altKey || event.ctrlKey || event.metaKey || items.length === 0) return;
    event.preventDefault();
    const step = steps[event.key];
    go(Math.max(0, Math.min(items.length - 1, active + step)), event.key === "End" || (step < 0 && event.key !== "Home") ? -1 : 1);
  });
  const resized = new ResizeObserver(measure);
  resized.observe(node);
  resized.observe(probe);

  return {
    node,
    // update shows these items; so many of them are new above those that were shown, whose place is kept.
    update(all, above = 0) {
      const top = node.scrollTop;
      items = all;
      if (above) active += above;
      for (const row of shown.values()) if (!row.contains(document.activeElement)) row.remove();
      for (const [item, row] of shown) if (!row.isConnected) shown.delete(item);
      space.style.height = items.length * height + "px";
      if (above && top > 0) node.scrollTop = top + above * height;
      soon();
    },
    place: () => ({ top: node.scrollTop, active }),
    restore(place) {
      if (!place) return;
      ({ active } = place);
      measure();
      node.scrollTop = place.top;
      render();
    },
    close() { resized.disconnect(); },
  };
}
