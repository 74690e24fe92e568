/** Widths that all panes share, so that one time is at one place in all of them. */

import { signal } from "@preact/signals";

const narrow = window.matchMedia("(max-width: 700px)");
const isNarrow = signal(narrow.matches);
narrow.addEventListener("change", (event) => (isNarrow.value = event.matches));

/** Width of the labels left of the time axis, CSS pixels. */
export const gutter = () => (isNarrow.value ? 48 : 112);

/** The pointer on the time axis: x of the page; null outside. */
export const crosshair = signal<number | null>(null);

/** Width of the area of the charts without its scroll bar. */
export const plotWidth = signal(0);
