/** One table of all actions: the keys are bound from it, and the help lists it. */

import { goBack, reachBoth, runUntil, stepBy, stopRun } from "./steps";
import * as state from "./state";
import { toggleTheme } from "./theme";

export interface Action {
    readonly group: "Time" | "Charts" | "Selection" | "Simulation" | "Page";
    readonly keys: readonly string[];
    readonly text: string;
    readonly run: () => void;
    /** Only for simulations. */
    readonly stepped?: boolean;
}

const STEP = 0.15;
const ZOOM = 1.3;

const focus = (selector: string) => {
    const element = document.querySelector<HTMLElement>(selector);
    element?.focus();
    if (element instanceof HTMLInputElement) element.select();
};

const chart = () => {
    const charts = state.overview.value?.charts ?? [];
    return charts.find((it) => it.id === state.activeChart.value) ?? charts[0];
};

const onChart = (act: (of: NonNullable<ReturnType<typeof chart>>) => void) => () => {
    const found = chart();
    if (found) act(found);
};

const scroll = (by: number) => () => void document.querySelector(".scroller")?.scrollBy({ top: by });

function nextChart(by: number): void {
    const charts = state.overview.value?.charts ?? [];
    const at = charts.findIndex((it) => it.id === state.activeChart.value);
    const next = charts[Math.min(Math.max((at < 0 ? 0 : at) + by, 0), charts.length - 1)];
    if (!next) return;
    state.activeChart.value = next.id;
    state.revealed.value = { chart: next.id, row: Math.floor(state.rowsOf(next).first) };
    state.say(`Chart ${next.name}`);
}

/** Makes an interval in the middle of the window, or moves its right end. */
function stretchInterval(by: -1 | 1): void {
    const { span } = state.time.value;
    const shown = state.shownInterval.value;
    const step = Math.max(Math.round(span / 50), 1);
    const from = state.interval.value?.from ?? Math.round((shown.from + shown.until) / 2);
    const until = (state.interval.value?.until ?? from) + by * step;
    state.interval.value = until > from ? { from, until } : null;
    state.tab.value = "interval";
}

function escape(): void {
    if (state.dialog.value) state.dialog.value = null;
    else if (state.notice.value) state.notice.value = null;
    else if (state.interval.value) state.interval.value = null;
    else state.select(null);
}

/** The form that saves a picture, or the reason why there is none. */
function save(): void {
    const reason = state.withoutPictures.value;
    if (reason) state.notice.value = reason;
    else open("save")();
}

const open = (dialog: state.Dialog) => () => void (state.dialog.value = state.dialog.value === dialog ? null : dialog);
const toTab = (tab: state.Tab) => () => {
    state.sideOpen.value = true;
    state.tab.value = tab;
};

export const ACTIONS: readonly Action[] = [
    { group: "Time", keys: ["w", "+", "="], text: "Zoom in", run: () => state.zoom(1 / ZOOM) },
    { group: "Time", keys: ["s", "-"], text: "Zoom out", run: () => state.zoom(ZOOM) },
    { group: "Time", keys: ["a", "ArrowLeft"], text: "Earlier", run: () => state.pan(-STEP) },
    { group: "Time", keys: ["d", "ArrowRight"], text: "Later", run: () => state.pan(STEP) },
    { group: "Time", keys: ["PageUp"], text: "One window earlier", run: () => state.pan(-0.9) },
    { group: "Time", keys: ["PageDown"], text: "One window later", run: () => state.pan(0.9) },
    { group: "Time", keys: ["Home"], text: "To the start of the run", run: () => state.toStart() },
    { group: "Time", keys: ["End"], text: "To the end of the run", run: () => state.toEnd() },
    { group: "Time", keys: ["f"], text: "Fit the whole run", run: state.fit },
    { group: "Time", keys: ["z"], text: "Zoom to the interval or the selected job", run: state.zoomToSelection },
    { group: "Charts", keys: ["ArrowUp"], text: "Scroll up", run: scroll(-60) },
    { group: "Charts", keys: ["ArrowDown"], text: "Scroll down", run: scroll(60) },
    { group: "Charts", keys: ["k"], text: "Chart above", run: () => nextChart(-1) },
    { group: "Charts", keys: ["j"], text: "Chart below", run: () => nextChart(1) },
    { group: "Charts", keys: ["e"], text: "Close or open the chart", run: onChart((it) => state.toggleClosed(it.id)) },
    { group: "Charts", keys: ["Shift+W"], text: "Fewer rows of the chart", run: onChart((it) => state.zoomRows(it, 1 / ZOOM)) },
    { group: "Charts", keys: ["Shift+S"], text: "More rows of the chart", run: onChart((it) => state.zoomRows(it, ZOOM)) },
    { group: "Charts", keys: ["Shift+ArrowUp"], text: "Rows above", run: onChart((it) => state.moveRows(it, -0.15 * state.rowsOf(it).rows)) },
    { group: "Charts", keys: ["Shift+ArrowDown"], text: "Rows below", run: onChart((it) => state.moveRows(it, 0.15 * state.rowsOf(it).rows)) },
    { group: "Charts", keys: [">"], text: "Higher charts", run: () => void (state.stretch.value = Math.min(state.stretch.value * 1.25, 16)) },
    { group: "Charts", keys: ["<"], text: "Lower charts", run: () => void (state.stretch.value = Math.max(state.stretch.value / 1.25, 0.25)) },
    { group: "Charts", keys: ["l"], text: "Links between the parts of the selected job", run: () => void (state.links.value = !state.links.value) },
    { group: "Selection", keys: ["/"], text: "Search a job, chart, resource or actor", run: () => focus("#search") },
    { group: "Selection", keys: [":"], text: "Filter the table of jobs", run: () => ((state.tableOpen.value = true), focus("#filter")) },
    { group: "Selection", keys: ["["], text: "Previous job of the user", run: () => state.neighbour(-1) },
    { group: "Selection", keys: ["]"], text: "Next job of the user", run: () => state.neighbour(1) },
    { group: "Selection", keys: ["Shift+ArrowRight"], text: "Longer interval", run: () => stretchInterval(1) },
    { group: "Selection", keys: ["Shift+ArrowLeft"], text: "Shorter interval", run: () => stretchInterval(-1) },
    { group: "Selection", keys: ["c"], text: "Compare with the second view, or end it", run: state.toggleCompare },
    { group: "Selection", keys: ["v"], text: "View as an actor", run: () => focus("#as") },
    { group: "Selection", keys: ["Escape"], text: "Close, or select nothing", run: escape },
    { group: "Simulation", keys: ["Space"], text: "Step one message", run: () => stepBy({ messages: 1 }), stepped: true },
    { group: "Simulation", keys: ["i"], text: "Step one instant", run: () => stepBy({ instants: 1 }), stepped: true },
    { group: "Simulation", keys: ["Enter"], text: "Run until the breakpoint of the form", run: runUntil, stepped: true },
    { group: "Simulation", keys: ["b"], text: "Breakpoint: run until a condition", run: open("until"), stepped: true },
    { group: "Simulation", keys: ["g"], text: "Run to the end", run: () => stepBy({ end: true }), stepped: true },
    { group: "Simulation", keys: ["."], text: "Stop", run: stopRun, stepped: true },
    { group: "Simulation", keys: ["Backspace"], text: "Back one message", run: () => goBack({ messages: 1 }), stepped: true },
    { group: "Simulation", keys: ["Shift+I"], text: "Back one instant", run: () => goBack({ instants: 1 }), stepped: true },
    { group: "Simulation", keys: ["Shift+B"], text: "Back to a time or a message", run: open("back"), stepped: true },
    { group: "Simulation", keys: ["n"], text: "New branch from here", run: open("branch"), stepped: true },
    { group: "Simulation", keys: ["y"], text: "Both simulations to the later one of their times", run: () => void reachBoth().catch(state.complain), stepped: true },
    { group: "Simulation", keys: ["o"], text: "Follow the time of the simulation", run: () => void (state.follow.value = !state.follow.value), stepped: true },
    ...state.TABS.map((tab, at): Action => ({ group: "Page", keys: [String(at + 1)], text: `Tab ${tab.title}`, run: toTab(tab.id) })),
    { group: "Page", keys: ["r"], text: "Show each pane as a table", run: () => void (state.tables.value = !state.tables.value) },
    { group: "Page", keys: ["m"], text: "Close or open the table of jobs", run: () => void (state.tableOpen.value = !state.tableOpen.value) },
    { group: "Page", keys: ["p"], text: "Close or open the tabs beside the charts", run: () => void (state.sideOpen.value = !state.sideOpen.value) },
    { group: "Page", keys: ["x"], text: "Save a picture", run: save },
    { group: "Page", keys: ["t"], text: "Dark or light", run: toggleTheme },
    { group: "Page", keys: ["h"], text: "Legend", run: open("legend") },
    { group: "Page", keys: ["?"], text: "Keys", run: open("help") },
];

/** The name of a pressed key, such as `w`, `Shift+W`, `?` or `Space`; null with Ctrl, Alt or Meta. */
export function nameOf(event: Pick<KeyboardEvent, "key" | "ctrlKey" | "altKey" | "metaKey" | "shiftKey">): string | null {
    if (event.ctrlKey || event.altKey || event.metaKey) return null;
    const { key } = event;
    if (key === " ") return "Space";
    if (/^[a-z]$/i.test(key)) return event.shiftKey ? `Shift+${key.toUpperCase()}` : key.toLowerCase();
    return key.length > 1 && event.shiftKey ? `Shift+${key}` : key;
}

/** Elements that have their own use of keys. */
function isTaken(target: EventTarget | null, name: string): boolean {
    if (!(target instanceof HTMLElement)) return false;
    if (target.closest("input, textarea, select, dialog")) return name !== "Escape" || target.closest("dialog") !== null;
    // Enter activates what the keyboard has reached. Space does so where it has no other action.
    const activates = name === "Enter" || (name === "Space" && !state.isSimulation.value);
    return activates && target.closest("button, a, summary") !== null;
}

/** Leaves a button that the pointer has pressed, so that keys do the same after a click as before. */
function leaveButton(event: MouseEvent): void {
    const { activeElement: focused } = document;
    const isPointer = event.detail > 0;
    if (isPointer && focused instanceof HTMLButtonElement && focused.closest("dialog") === null) focused.blur();
}

/** A button with the focus acts when Space is released, unless this is prevented. */
function keepButton(event: KeyboardEvent): void {
    const isButton = event.target instanceof HTMLElement && event.target.closest("button, summary") !== null;
    if (nameOf(event) === "Space" && state.isSimulation.value && isButton && !isTaken(event.target, "Space")) event.preventDefault();
}

export function bindKeys(): () => void {
    const bound = new Map(ACTIONS.flatMap((action) => action.keys.map((key) => [key, action] as const)));
    const pressed = (event: KeyboardEvent) => {
        const name = nameOf(event);
        const action = name === null ? undefined : bound.get(name);
        if (!action || event.defaultPrevented || isTaken(event.target, name ?? "")) return;
        if (action.stepped && !state.isSimulation.value) return;
        event.preventDefault();
        action.run();
    };
    document.addEventListener("keydown", pressed);
    document.addEventListener("keyup", keepButton);
    document.addEventListener("click", leaveButton);
    return () => {
        document.removeEventListener("keydown", pressed);
        document.removeEventListener("keyup", keepButton);
        document.removeEventListener("click", leaveButton);
    };
}

/** A key as it is printed. */
export function keyInWords(key: string): string {
    const words: Record<string, string> = { ArrowLeft: "←", ArrowRight: "→", ArrowUp: "↑", ArrowDown: "↓", Escape: "Esc", PageUp: "Page up", PageDown: "Page down" };
    return key
        .split(/\+(?=.)/)
        .map((part) => words[part] ?? (part.length === 1 ? part.toUpperCase() : part))
        .join(" ");
}
