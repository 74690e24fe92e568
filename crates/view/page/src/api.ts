/** The interface of the server, typed. Addresses are relative to the page, whose path has the token. */

import type { StoryLine } from "./story";
import { signal } from "@preact/signals";

import { readTile, type Tile } from "./tile";

export interface ViewName {
    readonly id: number;
    readonly kind: "run" | "simulation";
    readonly name: string;
    readonly path: string;
    readonly base: number | null;
    readonly branch_at: number | null;
}

export interface Chart {
    readonly id: number;
    readonly name: string;
    readonly kind: "provider" | "grid" | "cluster";
    readonly rows: number;
    readonly row_unit: string;
    readonly first_number: number;
    readonly bands: number;
    readonly scheduler: string | null;
    readonly speed: number | null;
    readonly utilisation: number | null;
    readonly jobs: number | null;
    /** True if the actor that sees the view does not know what is there. */
    readonly hidden: boolean;
}

export interface Actor {
    readonly id: number;
    readonly name: string;
    readonly kind: string;
}

export interface SeriesName {
    readonly id: string;
    readonly title: string;
    readonly unit: string;
    readonly chart: number | null;
}

export interface Metric {
    readonly name: string;
    readonly title: string;
    readonly unit: string | null;
    readonly value: number | string | null;
}

export interface Overview {
    readonly id: number;
    readonly kind: "run" | "simulation";
    readonly name: string;
    /** The actor that sees it; null = all is shown. */
    readonly seen_by: string | null;
    readonly seed: number | string | null;
    readonly version: number;
    readonly loading: readonly string[];
    readonly from: number;
    readonly until: number;
    readonly now: number | null;
    readonly charts: readonly Chart[];
    readonly actors: readonly Actor[];
    readonly series: readonly SeriesName[];
    readonly metrics: readonly Metric[];
    readonly tables: readonly { readonly name: string; readonly rows: number | null }[];
    readonly messages: "all" | "counts" | "none";
    /** Kinds of messages for which a simulation can wait. */
    readonly kinds: readonly string[];
    readonly problems: readonly string[];
    readonly pictures: readonly string[];
}

export interface Band {
    readonly name: string;
    readonly site: string | null;
    readonly first_row: number;
    readonly rows: number;
}

export interface TileAsk {
    readonly from: number;
    readonly until: number;
    readonly columns: number;
    readonly firstRow: number;
    readonly rows: number;
    readonly lanes: number;
    readonly beside: number | null;
    readonly as: string | null;
}

/** A page of the bars, then the marks, of a window. A mark has no job. */
export interface Listed {
    readonly bars: number;
    readonly marks: number;
    readonly rows: readonly { readonly job: number | null; readonly row: number; readonly rows: number; readonly start: number; readonly end: number; readonly style: number }[];
}

export interface Sum {
    readonly jobs: number;
    readonly bars: number;
    readonly processor_seconds: number;
    readonly utilisation: number | null;
    readonly mean_waiting_time: number | null;
}

export interface Series {
    readonly from: number;
    readonly to: number;
    readonly columns: number;
    readonly series: readonly {
        readonly id: string;
        readonly min: readonly (number | null)[];
        readonly max: readonly (number | null)[];
        readonly mean: readonly (number | null)[];
    }[];
}

export type Value = number | string | boolean | null;

export interface Column {
    readonly name: string;
    readonly unit: string | null;
    readonly meaning: string;
    readonly type: string;
}

export interface Jobs {
    readonly total: number;
    readonly matching: number;
    readonly columns: readonly Column[];
    readonly rows: readonly (readonly Value[])[];
    readonly error: string | null;
}

export interface JobBar {
    readonly chart: number;
    readonly row: number;
    readonly rows: number;
    readonly start: number;
    readonly end: number;
    readonly style: number;
}

export interface Job {
    readonly job: number;
    readonly values: readonly { readonly name: string; readonly value: Value; readonly hidden: boolean; readonly unit: string | null; readonly meaning: string }[];
    readonly attempts: readonly Readonly<Record<string, Value>>[];
    readonly bars: readonly JobBar[];
    readonly promises: readonly Readonly<Record<string, Value>>[];
    readonly previous_of_user: number | null;
    readonly next_of_user: number | null;
    readonly story: { readonly title: string; readonly lines: readonly StoryLine[] } | null;
}

/** Things that a search found. */
export interface Found {
    readonly matches: readonly Match[];
    /** True if the answer leaves others out. */
    readonly more: boolean;
}

export interface Match {
    readonly kind: "job" | "chart" | "actor" | "band";
    readonly id: number | string;
    readonly label: string;
    /** Of a band: its chart and its first row. */
    readonly chart?: number;
    readonly row?: number;
}

/** A value with its unit: times and spans are microseconds. */
export type Typed = Value | readonly Typed[] | { readonly time: number } | { readonly span: number } | { readonly job: number } | { readonly fields: Values };
export type Values = readonly (readonly [string, Typed])[];

export interface Message {
    /** Null for a message that did not arrive as it was sent. */
    readonly number: number | null;
    readonly time: number;
    readonly sender: string;
    readonly receiver: string;
    readonly kind: string;
    readonly job: number | null;
    readonly fault: string | null;
    /** Null if the contents are not known. */
    readonly values: Values | null;
}

export interface Messages {
    readonly total: number;
    readonly rows: readonly Message[];
    readonly note: string | null;
}

export interface Told {
    readonly sender: string;
    readonly item: string;
    readonly count: number;
    readonly first: number | null;
    readonly last: number | null;
    /** Contents of the last message; null if they are not known. */
    readonly values: Values | null;
}

export interface Differences {
    readonly in_both: number;
    readonly same: number;
    readonly earlier: number;
    readonly later: number;
    readonly started_only_here: number;
    readonly started_only_there: number;
    readonly started_in_neither: number;
    readonly other_provider: number;
    readonly other: number;
    readonly only_here: number;
    readonly only_there: number;
    /** Seconds by which the jobs that started in both start later here, on the mean. */
    readonly mean_delay: number | null;
    readonly total: number;
    readonly first: number;
    readonly largest: readonly {
        readonly job: number;
        readonly label: string;
        readonly start_here: number | null;
        readonly start_there: number | null;
        readonly provider_here: string | null;
        readonly provider_there: string | null;
    }[];
}

/** Looks that occur in a view. */
export interface Legend {
    readonly colours: readonly { readonly colour: number; readonly names: readonly string[]; readonly more: number }[];
    /** Classes, and flags as bits of a style. */
    readonly classes: readonly number[];
    readonly flags: readonly number[];
    readonly marks: readonly number[];
    readonly ticks: readonly number[];
}

export interface SimulationState {
    readonly version: number;
    readonly now: number;
    readonly next: number | null;
    readonly messages: number;
    /** Null if an actor sees the view. */
    readonly jobs_over: number | null;
    readonly jobs: number | null;
    readonly state: "paused" | "running" | "over" | "failed";
    readonly stopped_by: string | null;
    readonly error: string | null;
    readonly earliest: number;
}

export type Step =
    | { readonly messages: number }
    | { readonly instants: number }
    | { readonly time: number }
    | { readonly span: number }
    | { readonly starts: number }
    | { readonly ends: number }
    | { readonly message: { readonly sender: string | null; readonly receiver: string | null; readonly kind: string | null; readonly job: number | null } }
    | { readonly condition: string }
    | { readonly end: true };

export type Back = { readonly messages: number } | { readonly instants: number } | { readonly time: number } | { readonly to: number };

export interface Branch {
    readonly set: readonly string[];
    readonly fail: readonly string[];
    readonly submit: string | null;
    readonly seed?: number;
}

export interface Glimpse {
    readonly name: string;
    readonly kind: string;
    readonly machine: Readonly<Record<string, Typed>> | null;
    readonly jobs: readonly Readonly<Record<string, Typed>>[];
    readonly promises: readonly Readonly<Record<string, Typed>>[];
    readonly facts: readonly Readonly<Record<string, Typed>>[];
    readonly told: readonly Told[];
    /** True after the last message of the actor. */
    readonly left?: boolean;
}

/** An answer of the server that is not a success, with its remedy. */
export class Refusal extends Error {
    constructor(
        readonly status: number,
        text: string,
        readonly help: string | null,
    ) {
        super(text);
    }
}

type Parameter = string | number | null | undefined;

/** A query without the parameters that have no value. */
export function query(parameters: Readonly<Record<string, Parameter | readonly Parameter[]>>): string {
    const pairs = new URLSearchParams();
    for (const [name, value] of Object.entries(parameters)) {
        const values = Array.isArray(value) ? value : [value];
        for (const one of values) if (one !== null && one !== undefined && one !== "") pairs.append(name, String(one));
    }
    const text = pairs.toString();
    return text === "" ? "" : `?${text}`;
}

async function answer(path: string, init: RequestInit = {}): Promise<Response> {
    let response: Response;
    try {
        response = await fetch(`api/${path}`, init);
    } catch (cause) {
        if (cause instanceof DOMException && cause.name === "AbortError") throw cause;
        throw new Refusal(0, "The server does not answer.", "Start `haggle view` again, and open the address that it prints.");
    }
    if (response.ok) return response;
    const body: unknown = await response.json().catch(() => null);
    const known = typeof body === "object" && body !== null ? (body as { error?: unknown; help?: unknown }) : {};
    const text = typeof known.error === "string" ? known.error : `The server answered ${response.status}.`;
    throw new Refusal(response.status, text, typeof known.help === "string" ? known.help : null);
}

async function get<T>(path: string, signal?: AbortSignal): Promise<T> {
    const response = await answer(path, signal ? { signal } : {});
    return (await response.json()) as T;
}

async function post<T>(path: string, body?: unknown): Promise<T | null> {
    const init: RequestInit = { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body ?? {}) };
    const text = await (await answer(path, init)).text();
    return text === "" ? null : (JSON.parse(text) as T);
}

const view = (id: number, rest = "") => `views/${id}${rest}`;

/** The view that the page shows, and the actor that sees it: parts of every question. Null = everyone. */
export const viewId = signal(0);
export const asActor = signal<string | null>(null);

/** A view as the chosen actor sees it. */
function seen(id: number, rest = "", ask: Parameters<typeof query>[0] = {}): string {
    return view(id, `${rest}${query({ ...ask, as: asActor.value })}`);
}

/** Jobs of a second view have the numbers of the first one. */
const numbers = (id: number) => (id === viewId.value ? null : viewId.value);

/** Number of a job that only the second view has. */
export const ONLY_THERE = 0xfffffffe;

export const api = {
    views: () => get<{ haggle: string; views: ViewName[] }>("views"),
    overview: (id: number) => get<Overview>(seen(id)),
    legend: (id: number, signal?: AbortSignal) => get<Legend>(seen(id, "/legend"), signal),
    bands: (id: number, chart: number, first: number, count: number) =>
        get<Band[]>(seen(id, `/charts/${chart}/bands`, { first, count })),
    tile: async (id: number, chart: number, ask: TileAsk, signal?: AbortSignal): Promise<Tile> => {
        const { from, until: to, columns, firstRow: first_row, rows, lanes, beside } = ask;
        const path = seen(id, `/charts/${chart}/tile`, { from, to, columns, first_row, rows, lanes, beside, numbers: beside === null ? null : numbers(id) });
        return readTile(await (await answer(path, signal ? { signal } : {})).arrayBuffer());
    },
    bars: (id: number, chart: number, ask: { from: number; to: number; first_row: number; rows: number; first: number; count: number }) =>
        get<Listed>(seen(id, `/charts/${chart}/bars`, { ...ask, numbers: numbers(id) })),
    at: (id: number, chart: number, time: number, row: number) =>
        get<{ job: number | null }>(seen(id, `/charts/${chart}/at`, { time, row, numbers: numbers(id) })),
    sum: (id: number, chart: number, from: number, to: number, first_row: number, rows: number, signal?: AbortSignal) =>
        get<Sum>(seen(id, `/charts/${chart}/sum`, { from, to, first_row, rows }), signal),
    series: (id: number, ids: readonly string[], from: number, to: number, columns: number, signal?: AbortSignal) =>
        get<Series>(seen(id, "/series", { id: ids, from, to, columns }), signal),
    jobs: (id: number, ask: { filter: string; sort: string; first: number; count: number }) =>
        get<Jobs>(seen(id, "/jobs", ask)),
    job: (id: number, job: number, signal?: AbortSignal) => get<Job>(seen(id, `/jobs/${job}`), signal),
    find: (id: number, text: string, signal?: AbortSignal) => get<Found>(seen(id, "/find", { text }), signal),
    messages: (
        id: number,
        ask: { job?: number | null; from?: number | null; to?: number | null; actor?: string | null; first: number; count: number },
        signal?: AbortSignal,
    ) => get<Messages>(seen(id, "/messages", ask), signal),
    told: (id: number, actor: string, until: number | null) => get<Told[]>(seen(id, "/told", { actor, until })),
    differences: (id: number, other: number, first: number, count: number, signal?: AbortSignal) =>
        get<Differences>(seen(id, "/differences", { with: other, first, count }), signal),
    picture: (id: number, ask: Readonly<Record<string, Parameter>>) => `api/${seen(id, "/picture", ask)}`,
    pictureBlob: async (id: number, ask: Readonly<Record<string, Parameter>>) =>
        (await answer(seen(id, "/picture", ask))).blob(),
    state: (id: number, after: number | null, signal?: AbortSignal) => get<SimulationState>(seen(id, "/state", { after }), signal),
    /** A step from the state of a version; refused if there is a later state. */
    step: (id: number, step: Step, version: number) => post<{ version: number }>(view(id, `/steps${query({ version })}`), step),
    stop: (id: number) => post(view(id, "/stop")),
    back: (id: number, to: Back, version: number) => post<{ version: number }>(view(id, `/back${query({ version })}`), to),
    branch: (id: number, changes: Branch) => post<{ id: number }>(view(id, "/branches"), changes),
    /** The last message that was delivered. */
    last: (id: number) => get<Message | null>(seen(id, "/last")),
    actor: (id: number, actor: string) => get<Glimpse>(seen(id, `/actors/${encodeURIComponent(actor)}`)),
};
