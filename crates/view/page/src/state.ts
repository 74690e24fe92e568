/** The state that all panes share: the views, the window of time, and one selection. */

import { batch, computed, effect, signal } from "@preact/signals";

import * as address from "./address";
import { api, asActor, Refusal, type Job, type Overview, type SimulationState, viewId, type ViewName } from "./api";
import { around, centred, fitted, interval as intervalOf, moved, position, timeWindow, zoomed, type Bounds, type TimeWindow } from "./axis";

export { asActor, viewId };
import { Newest } from "./newest";
import { DAY } from "./ticks";
import { counted } from "./words";

const HOUR = DAY / 24;

export type Tab = "job" | "interval" | "messages" | "summary" | "actors" | "compare";
export const TABS: readonly { readonly id: Tab; readonly title: string }[] = [
    { id: "job", title: "Job" },
    { id: "interval", title: "Interval" },
    { id: "messages", title: "Messages" },
    { id: "summary", title: "Summary" },
    { id: "actors", title: "Actors" },
    { id: "compare", title: "Compare" },
];
export type Dialog = "help" | "save" | "until" | "back" | "branch" | "legend" | null;
export type Theme = "auto" | "light" | "dark";

export interface RowWindow {
    readonly first: number;
    readonly rows: number;
}

export interface Notice {
    readonly text: string;
    readonly help: string | null;
}

export const version = signal("");
export const views = signal<readonly ViewName[]>([]);
export const besideId = signal<number | null>(null);
export const overview = signal<Overview | null>(null);
export const besideOverview = signal<Overview | null>(null);
export const time = signal<TimeWindow>(timeWindow(0, 0, 1e6));
/** The window of time when it has rested for a moment. */
export const restedTime = signal<TimeWindow>(time.value);
export const rowWindows = signal<ReadonlyMap<number, RowWindow>>(new Map());
export const closed = signal<ReadonlySet<number>>(new Set());
export const activeChart = signal(0);
/** Height of charts relative to the one that fills the window. */
export const stretch = signal(1);
export const job = signal<number | null>(null);
export const details = signal<Job | null>(null);
export const detailsError = signal<string | null>(null);
export const hovered = signal<number | null>(null);
export const interval = signal<Bounds | null>(null);
export const filter = signal("");
export const sort = signal("");
export const tab = signal<Tab>("summary");
export const dialog = signal<Dialog>(null);
export const theme = signal<Theme>("auto");
export const tables = signal(false);
export const links = signal(true);
export const tableOpen = signal(true);
export const sideOpen = signal(true);
export const simulation = signal<SimulationState | null>(null);
export const follow = signal(true);
export const notice = signal<Notice | null>(null);
/** Said by screen readers. */
export const spoken = signal("");
export const actorShown = signal<string | null>(null);

export const bounds = computed<Bounds>(() => {
    const all = [overview.value, besideOverview.value].filter((it) => it !== null);
    if (all.length === 0) return { from: 0, until: 1 };
    const from = Math.min(...all.map((it) => it.from));
    const until = Math.max(...all.map((it) => Math.max(it.until, it.now ?? it.until)));
    // A simulation begins without a length.
    return { from, until: Math.max(until, from + (all.some((it) => it.kind === "simulation") ? HOUR : 1)) };
});

/**
 * Changes with the data of a view that is here, and with the actor that sees it. Null while its charts are read: they come first, and all other
 * questions wait. While other tables are read, it changes with each table, not with each part of one.
 */
function versionOf(of: Overview | null): string | null {
    if (!of || of.loading.includes("charts")) return null;
    return `${of.id}|${of.loading.length > 0 ? of.loading.join() : of.version}|${asActor.value ?? ""}`;
}
export const dataVersion = computed(() => versionOf(overview.value));
export const besideVersion = computed(() => versionOf(besideOverview.value));

export const isSimulation = computed(() => overview.value?.kind === "simulation");
export const actorNames = computed(() => overview.value?.actors ?? []);

/** A failure and its remedy. */
export function noticeOf(cause: unknown): Notice {
    return { text: cause instanceof Error ? cause.message : String(cause), help: cause instanceof Refusal ? cause.help : null };
}

export function complain(cause: unknown): void {
    if (cause instanceof DOMException && cause.name === "AbortError") return;
    notice.value = noticeOf(cause);
}

export const fit = () => void (time.value = fitted(bounds.value));
export const zoom = (factor: number, share = 0.5) => void (time.value = zoomed(time.value, factor, share, bounds.value));
export const pan = (share: number) => void (time.value = moved(time.value, share, bounds.value));
/** The begin or the end of the data at that edge of the window; a longer window shows all of them. */
function toEdge(at: number, share: number): void {
    const { from, until } = bounds.value;
    const { span } = time.value;
    if (span >= until - from) goTo((from + until) / 2);
    else time.value = timeWindow(at, -share * span, span);
}
export const toStart = () => toEdge(bounds.value.from, 0.02);
export const toEnd = () => toEdge(bounds.value.until, 0.98);
export const goTo = (at: number) => void (time.value = centred(time.value, at));

/** Zooms to the interval, else to the selected job. */
export function zoomToSelection(): void {
    if (interval.value) time.value = around(interval.value.from, interval.value.until, 0.05);
    else if (job.value !== null) zoomToJob(job.value);
}

/** Selects a job, and shows it from its submission to its end: the reason of its wait is then in sight. */
export function zoomToJob(number: number): void {
    select(number);
    when(number, (found) => {
        const life = lifeOf(found);
        if (life) time.value = around(life.from, life.until);
    });
}

/** The time of its bars; null without any. */
function runTimeOf(of: Job): Bounds | null {
    if (of.bars.length === 0) return null;
    return { from: Math.min(...of.bars.map((it) => it.start)), until: Math.max(...of.bars.map((it) => it.end)) };
}

/** From the submission of a job to its end, or to the present time of a simulation; null if neither is known. */
export function lifeOf(of: Job): Bounds | null {
    const timeOf = (name: string) => {
        const value = of.values.find((it) => it.name === name)?.value;
        return typeof value === "number" ? [Math.round(value * 1e6)] : [];
    };
    const run = runTimeOf(of);
    const from = [...timeOf("submission_time"), ...(run ? [run.from] : [])];
    const ends = [...timeOf("left_time"), ...(run ? [run.until] : [])];
    const now = overview.value?.now;
    if (ends.length === 0 && now != null) ends.push(now);
    if (from.length === 0 || ends.length === 0) return null;
    return { from: Math.min(...from), until: Math.max(...ends, ...from) };
}

/** Selects a job everywhere. With `reveal`, the window moves to it if it, or one of some other times, is out of sight. */
export function select(number: number | null, options: { reveal?: boolean; open?: boolean; times?: readonly number[] } = {}): void {
    batch(() => {
        job.value = number;
        if (number !== null && (options.open ?? true)) tab.value = tab.value === "messages" ? "messages" : "job";
    });
    if (number !== null && (options.reveal ?? false)) when(number, (found) => reveal(found, options.times ?? []));
}

/** Is done once, when the details of a job are here. */
let next: { readonly job: number; readonly act: (of: Job) => void } | null = null;

function when(number: number, act: (of: Job) => void): void {
    if (details.value?.job === number) act(details.value);
    else next = { job: number, act };
}

/** Asks the stage to scroll to a chart. */
export const revealed = signal<{ readonly chart: number; readonly row: number } | null>(null);

function reveal(of: Job, times: readonly number[]): void {
    const ends = runTimeOf(of);
    const first = of.bars[0];
    if (!ends || !first) return;
    const [left, right] = [position(time.value, ends.from), position(time.value, ends.until)];
    if (right < 0.02 || left > 0.98) goTo((ends.from + ends.until) / 2);
    // A job of a pixel in the window cannot be seen: it is shown with its surroundings.
    if ((right - left) * 1000 < 3) time.value = around(ends.from, ends.until, 8);
    if (times.some((it) => position(time.value, it) < 0.02 || position(time.value, it) > 0.98)) time.value = around(Math.min(ends.from, ...times), Math.max(ends.until, ...times));
    revealed.value = { chart: first.chart, row: first.row };
}

const jobs = new Newest<Job>();
/** The view and the job of the details. */
let shownJob = "";

/** Asks for the details of the selected job; those of another job or view are removed at once. */
function loadDetails(): void {
    const [view, number] = [viewId.value, job.value];
    // They are asked for again when the data have grown: while tables are read, a job may lack its bars, or be unknown.
    const version = dataVersion.value;
    const wanted = number === null ? "" : `${view}|${number}|${asActor.value ?? ""}`;
    if (wanted !== shownJob) {
        batch(() => {
            details.value = null;
            detailsError.value = null;
        });
    }
    shownJob = wanted;
    if (next?.job !== number) next = null;
    if (number === null || version === null || overview.peek()?.id !== view) return jobs.forget();
    jobs.ask({
        load: (signal) => api.job(view, number, signal),
        then: (found) => {
            batch(() => {
                details.value = found;
                detailsError.value = null;
            });
            const after = next;
            next = null;
            after?.act(found);
        },
        failed: (cause) => {
            next = null;
            batch(() => {
                details.value = null;
                detailsError.value = cause instanceof Error ? cause.message : String(cause);
            });
        },
    });
}

/** The next or previous job of the same user. */
export function neighbour(direction: -1 | 1): void {
    const next = direction < 0 ? details.value?.previous_of_user : details.value?.next_of_user;
    if (next !== null && next !== undefined) select(next, { reveal: true });
    else if (details.value) say(direction < 0 ? "This is the first job of the user." : "This is the last job of the user.");
}

export function say(text: string): void {
    spoken.value = text;
}

export function toggleClosed(chart: number): void {
    const next = new Set(closed.value);
    if (!next.delete(chart)) next.add(chart);
    closed.value = next;
}

export function rowsOf(chart: { readonly id: number; readonly rows: number }): RowWindow {
    const found = rowWindows.value.get(chart.id);
    const all = Math.max(chart.rows, 1);
    if (!found) return { first: 0, rows: all };
    const rows = Math.min(found.rows, all);
    return { first: Math.min(Math.max(found.first, 0), all - rows), rows };
}

/** Zooms the rows of a chart about a position, 0 = top and 1 = bottom. */
export function zoomRows(chart: { readonly id: number; readonly rows: number }, factor: number, share = 0.5): void {
    const { first, rows } = rowsOf(chart);
    const all = Math.max(chart.rows, 1);
    const count = Math.min(Math.max(rows * factor, Math.min(1, all)), all);
    setRows(chart, { first: first + share * (rows - count), rows: count });
}

export function moveRows(chart: { readonly id: number; readonly rows: number }, by: number): void {
    const { first, rows } = rowsOf(chart);
    setRows(chart, { first: first + by, rows });
}

export function setRows(chart: { readonly id: number; readonly rows: number }, { first, rows }: RowWindow): void {
    const next = new Map(rowWindows.value);
    const all = Math.max(chart.rows, 1);
    if (rows >= all) next.delete(chart.id);
    else next.set(chart.id, { first: Math.min(Math.max(first, 0), all - rows), rows });
    rowWindows.value = next;
}

export async function loadViews(): Promise<void> {
    const found = await api.views();
    batch(() => {
        version.value = found.haggle;
        views.value = found.views;
    });
}

/** Reads the overview of a view again, for a simulation after each step; `early` was asked for before. */
export async function refresh(early: Promise<Overview | null> = Promise.resolve(null)): Promise<void> {
    const [here, there, actor] = [viewId.value, besideId.value, asActor.value];
    const first = early.then((it) => it ?? api.overview(here));
    const [one, other] = await Promise.all([first, there === null ? null : api.overview(there)]);
    if (viewId.value !== here || besideId.value !== there || asActor.value !== actor) return;
    batch(() => {
        // A window of all of the data grows with them.
        const shownAll = overview.value !== null && sameWindow(time.value, fitted(bounds.value));
        overview.value = renewed(overview.value, one);
        besideOverview.value = renewed(besideOverview.value, other);
        if (shownAll) fit();
    });
}

/** The overview from before if nothing has changed: then nothing is drawn or asked for again. */
function renewed(before: Overview | null, now: Overview | null): Overview | null {
    const same = before?.id === now?.id && before?.version === now?.version && before?.seen_by === now?.seen_by;
    return same ? before : now;
}

export async function openView(id: number, options: { keepTime?: boolean; beside?: number | null } = {}): Promise<void> {
    batch(() => {
        viewId.value = id;
        if (options.beside !== undefined) besideId.value = options.beside;
        if (besideId.value === id) besideId.value = null;
        overview.value = null;
        simulation.value = null;
        asActor.value = null;
    });
    await refresh();
    if (!(options.keepTime ?? false)) fit();
}

export async function compareWith(id: number | null): Promise<void> {
    batch(() => {
        besideId.value = id;
        besideOverview.value = null;
        if (id !== null) tab.value = "compare";
    });
    await refresh();
}

/** Compares with the next other view, or ends the comparison. */
export function toggleCompare(): void {
    if (besideId.value !== null) return void compareWith(null).catch(complain);
    const base = views.value.find((it) => it.id === viewId.value)?.base;
    const other = base ?? views.value.find((it) => it.id !== viewId.value)?.id;
    if (other === undefined) {
        notice.value = { text: "There is no second view to compare with.", help: "Name two results folders: `haggle view A B`. A simulation can have a branch." };
        return;
    }
    void compareWith(other).catch(complain);
}

/** Follows a simulation or a run that is still being read. */
export function followChanges(): () => void {
    let stopped = false;
    let request: AbortController | null = null;
    const pollState = async (id: number, signal: AbortSignal) => {
        let after: number | null = null;
        let failure: Notice | null = null;
        while (!stopped && !signal.aborted) {
            try {
                const state: SimulationState = await api.state(id, after, signal);
                if (signal.aborted || viewId.value !== id) return;
                if (failure !== null && notice.peek() === failure) notice.value = null;
                failure = null;
                if (state.version !== after) {
                    after = state.version;
                    await arrive(state);
                }
            } catch (cause) {
                if (signal.aborted) return;
                complain(cause);
                failure = notice.peek();
                await new Promise((resolve) => setTimeout(resolve, 2000));
            }
        }
    };
    const end = effect(() => {
        const id = viewId.value;
        // Not the overview itself, which each step renews.
        const stepped = isSimulation.value;
        request?.abort();
        if (!stepped) return;
        request = new AbortController();
        void pollState(id, request.signal);
    });
    return () => {
        stopped = true;
        request?.abort();
        end();
    };
}

async function arrive(state: SimulationState): Promise<void> {
    const before = simulation.value;
    simulation.value = state;
    await refresh();
    if (follow.value && before && before.now !== state.now) keepNowInSight(state.now);
    if (state.state !== "running" && (before?.state === "running" || before?.messages !== state.messages)) {
        say(`${state.state}: ${counted(state.messages, "message")}${state.stopped_by ? `, ${state.stopped_by}` : ""}`);
    }
}

function keepNowInSight(now: number): void {
    const share = position(time.value, now);
    if (share < 0.05 || share > 0.92) time.value = timeWindow(now, -0.75 * time.value.span, time.value.span);
}

const isLoading = computed(() => [overview.value, besideOverview.value].some((it) => (it?.loading.length ?? 0) > 0));

/** While tables are read, the overview is asked for again until all of them are there. */
export function waitForTables(): () => void {
    return effect(() => {
        if (!isLoading.value) return;
        let asking = false;
        const ask = async () => {
            if (asking) return;
            asking = true;
            await refresh().catch(complain);
            asking = false;
        };
        const timer = setInterval(() => void ask(), 400);
        return () => clearInterval(timer);
    });
}

/** The row at the top of the table of jobs, and the row to which it goes once its rows are there. */
export const topRow = signal(0);
export const wantedRow = signal<number | null>(null);

export function snapshot(): address.Shown {
    const shownAll = overview.value !== null && sameWindow(time.value, fitted(bounds.value));
    return {
        view: viewId.value,
        beside: besideId.value,
        time: shownAll ? null : time.value,
        job: job.value,
        interval: interval.value,
        filter: filter.value,
        sort: sort.value,
        row: wantedRow.value ?? topRow.value,
        as: asActor.value,
        tab: tab.value,
        closed: [...closed.value],
        rows: [...rowWindows.value].map(([chart, { first, rows }]) => [chart, first, rows] as const),
    };
}

const sameWindow = (one: TimeWindow, other: TimeWindow) => one.origin === other.origin && one.offset === other.offset && one.span === other.span;

/** Shows what an address names; `early` may have the overview of its view. */
export async function restore(shown: address.Shown, early: Promise<Overview | null> = Promise.resolve(null)): Promise<void> {
    const known = (id: number | null) => views.value.some((it) => it.id === id);
    const id = known(shown.view) ? shown.view : (views.value[0]?.id ?? 0);
    batch(() => {
        viewId.value = id;
        besideId.value = known(shown.beside) && shown.beside !== id ? shown.beside : null;
        overview.value = null;
        job.value = shown.job;
        interval.value = shown.interval;
        filter.value = shown.filter;
        sort.value = shown.sort;
        wantedRow.value = shown.row;
        asActor.value = shown.as;
        tab.value = TABS.find((it) => it.id === shown.tab)?.id ?? (shown.job === null ? "summary" : "job");
        closed.value = new Set(shown.closed);
        rowWindows.value = new Map(shown.rows.map(([chart, first, rows]) => [chart, { first, rows }]));
    });
    await refresh(id === shown.view ? early : undefined).catch(async (cause: unknown) => {
        // The address may name an actor that the view does not have.
        if (asActor.value === null) throw cause;
        asActor.value = null;
        await refresh();
    });
    if (shown.time) time.value = timeWindow(shown.time.origin, shown.time.offset, shown.time.span);
    else fit();
}

/** After so long without a change, the window rests, ms. */
const REST = 250;

/** The reason why this view has no pictures; null if it has some. */
export const withoutPictures = computed<Notice | null>(() => {
    if (isSimulation.value) return { text: "A simulation has no pictures: they are drawn from the tables of a run.", help: "Write the tables with `haggle run`, and view them." };
    if (asActor.value !== null) return { text: `Pictures are hidden from ${asActor.value}: they are drawn from the tables of all actors.`, help: "View as everyone, with the key `V`." };
    if (overview.value?.pictures.length === 0) return { text: "This view has no pictures.", help: "`haggle plot` draws those of large runs." };
    return null;
});

/** Changes with the view, the actor that sees it, and the state of a simulation: a notice from before is out of date. */
const occasion = computed(() => [viewId.value, besideId.value, asActor.value ?? "", simulation.value?.state ?? ""].join("|"));

/** Keeps the address and the details up to date. */
export function watch(): void {
    effect(loadDetails);
    effect(() => {
        void occasion.value;
        notice.value = null;
    });
    effect(() => {
        const actor = asActor.value;
        const shown = overview.peek();
        if (shown !== null && shown.seen_by !== actor) void refresh().catch(complain);
    });
    let rest: ReturnType<typeof setTimeout> | null = null;
    effect(() => {
        const now = time.value;
        if (rest !== null) clearTimeout(rest);
        rest = setTimeout(() => (restedTime.value = now), REST);
    });
    let timer: ReturnType<typeof setTimeout> | null = null;
    effect(() => {
        if (overview.value === null) return;
        const fragment = address.write(snapshot());
        if (timer !== null) clearTimeout(timer);
        timer = setTimeout(() => {
            // The event of the user's change may still be on its way: it must find that change.
            if (isForeign(location.hash)) return;
            lastWritten = `#${fragment}`;
            if (location.hash !== lastWritten) history.replaceState(null, "", lastWritten);
        }, 150);
    });
}

let lastWritten = "";
/** Notes a fragment that the page shows, or is about to show. */
export function adopt(fragment: string): void {
    lastWritten = fragment;
}
/** True if the fragment was changed by the user, not by the page. */
export const isForeign = (fragment: string) => fragment !== lastWritten && fragment !== "";

export const shownInterval = computed(() => interval.value ?? intervalOf(time.value));
