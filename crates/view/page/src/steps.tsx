/** Stepping a simulation: the bar below the header, and the forms for breakpoints, going back and branches. */

import { effect, signal, useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";

import { api, type Back, type Message, type Step } from "./api";
import { Form, mistake } from "./form";
import * as state from "./state";
import { readTime } from "./ticks";
import { Named, Shown } from "./values";
import { at, compact, counted } from "./words";

/** The last breakpoint of the form; Enter runs to it again. */
const breakpoint = signal<Step | null>(null);

const paused = () => state.simulation.value?.state === "paused";

/** The view and the version of the last step that was begun here: older states on the page are out of date. */
let begun = { view: -1, version: 0, short: false };
let asking = false;
/** Messages of presses during a step of messages: they are stepped together after it. */
let owed = 0;

/** True from a step of messages that was begun here until its end is on the page. */
function isStepping(): boolean {
    const now = state.simulation.value;
    if (begun.view !== state.viewId.value || !begun.short || !now) return false;
    return asking || now.version < begun.version || now.state === "running";
}

/** Steps the messages that are owed, when the step before has ended. */
function settle(): void {
    const now = state.simulation.value;
    if (owed === 0 || isStepping()) return;
    const messages = owed;
    owed = 0;
    if (begun.view === state.viewId.value && now?.state === "paused") stepBy({ messages });
}

/** Sends a request that changes the simulation, from the state on the page. A second one waits for the state after the first. */
async function change(send: (id: number, version: number) => Promise<{ version: number } | null>, short = false): Promise<void> {
    const [id, now] = [state.viewId.value, state.simulation.value];
    if (!now || asking || (begun.view === id && now.version < begun.version)) return;
    asking = true;
    begun = { view: id, version: begun.view === id ? begun.version : 0, short };
    try {
        state.notice.value = null;
        const made = await send(id, now.version);
        if (made) begun = { view: id, version: made.version, short };
    } finally {
        asking = false;
    }
    settle();
}

const isBusy = () => {
    if (state.simulation.value?.state !== "running") return false;
    state.notice.value = { text: "The simulation is running.", help: "Stop it first, with the key `.`." };
    return true;
};

/** Begins a step; the promise fails if it is refused. */
async function begin(step: Step): Promise<void> {
    await change((id, version) => api.step(id, step, version), "messages" in step);
}

export function stepBy(step: Step): void {
    if (!state.isSimulation.value) return;
    if ("messages" in step && isStepping()) return void (owed += step.messages);
    if (isBusy()) return;
    void begin(step).catch((cause: unknown) => {
        owed = 0;
        state.complain(cause);
    });
}

export function stopRun(): void {
    void api.stop(state.viewId.value).catch(state.complain);
}

export function goBack(to: Back): void {
    if (!state.isSimulation.value || isBusy()) return;
    void change((id, version) => api.back(id, to, version)).catch(state.complain);
}

export function runUntil(): void {
    if (breakpoint.value) stepBy(breakpoint.value);
    else state.dialog.value = "until";
}

/** Steps a simulation to a time, and waits for the end of the step. */
async function reach(id: number, time: number): Promise<void> {
    const now = await api.state(id, null);
    // An actor is not told the time of the next message, so one may be due at this instant.
    const isThere = now.now > time || (now.now === time && now.next !== null && now.next > time);
    if (isThere || now.state === "over" || now.state === "failed") return;
    const made = await api.step(id, { time }, now.version);
    let after = made?.version ?? now.version;
    for (;;) {
        const then = await api.state(id, after);
        if (then.state !== "running") return;
        after = then.version;
    }
}

/** Steps both simulations on the axis to the later one of their times. */
export async function reachBoth(): Promise<void> {
    const [here, there] = [state.viewId.value, state.besideId.value];
    if (there === null || state.besideOverview.value?.kind !== "simulation") {
        state.notice.value = { text: "There is no second simulation on the axis.", help: "Make a branch, or choose another simulation in the tab Compare." };
        return;
    }
    const states = await Promise.all([api.state(here, null), api.state(there, null)]);
    if (states.some((it) => it.state === "running")) {
        state.notice.value = { text: "One of both simulations is running.", help: "Stop it first." };
        return;
    }
    const time = Math.max(...states.map((it) => it.now));
    await Promise.all([reach(here, time), reach(there, time)]);
    await state.refresh();
    state.say(`Both simulations are at ${at(time)}.`);
}

const moment = (time: number) => (time === 0 ? "the start" : at(time));

export function StepBar() {
    const span = useSignal("1h");
    useEffect(
        () =>
            effect(() => {
                void state.simulation.value;
                settle();
            }),
        [],
    );
    const now = state.simulation.value;
    if (!state.isSimulation.value) return null;
    const running = now?.state === "running";
    const idle = !paused();
    const ends = now?.state === "over" || now?.state === "failed";
    const second = state.besideOverview.value?.kind === "simulation" ? state.besideOverview.value : null;
    const bySpan = () => {
        const length = readTime(span.value);
        if (length === null || length <= 0) state.notice.value = { text: `\`${span.value}\` is no length of time.`, help: "Write, for example, `90s`, `15min`, `2h` or `3d`." };
        else stepBy({ span: length });
    };
    return (
        <div class="steps" role="toolbar" aria-label="Steps of the simulation" data-testid="steps">
            <Tool label="Back one instant (Shift I)" disabled={running || !now} onClick={() => goBack({ instants: 1 })}>
                ◀ Instant
            </Tool>
            <Tool label="Back one message (Backspace)" disabled={running || !now} onClick={() => goBack({ messages: 1 })}>
                ◀ Message
            </Tool>
            <Tool label="Back to … (Shift B)" disabled={running || !now} onClick={() => (state.dialog.value = "back")}>
                Back to…
            </Tool>
            <Tool label="Step one message (Space)" disabled={idle} onClick={() => stepBy({ messages: 1 })}>
                ▶ Message
            </Tool>
            <Tool label="Step one instant (I)" disabled={idle} onClick={() => stepBy({ instants: 1 })}>
                ▶ Instant
            </Tool>
            <span class="pair">
                <Tool label="Step a length of time" disabled={idle} onClick={bySpan}>
                    + Time
                </Tool>
                <input class="span" aria-label="Length of a step" value={span.value} onInput={(event) => (span.value = event.currentTarget.value)} onKeyDown={(event) => event.key === "Enter" && bySpan()} />
            </span>
            <Tool label="Run until a breakpoint (B)" disabled={idle} onClick={() => (state.dialog.value = "until")}>
                Until…
            </Tool>
            <Tool label="Run to the end (G)" disabled={idle} onClick={() => stepBy({ end: true })}>
                ▶▶ Run
            </Tool>
            <Tool label="Stop (.)" disabled={!running} onClick={stopRun}>
                ■ Stop
            </Tool>
            <Tool label="New branch from here (N)" disabled={running || !now} onClick={() => (state.dialog.value = "branch")}>
                Branch…
            </Tool>
            {second && (
                <Tool label="Both simulations to the later one of their times (Y)" disabled={running || !now} onClick={() => void reachBoth().catch(state.complain)}>
                    ⇥ Both
                </Tool>
            )}
            {now && (
                <span class="now" role="status" data-testid="now">
                    <b class={`state ${now.state}`}>{now.state}</b>
                    <span title={`${compact(now.now)} µs`}>{` at ${moment(now.now)}`}</span>
                    {` · ${counted(now.messages, "message")}${now.jobs === null || now.jobs_over === null ? "" : ` · ${compact(now.jobs_over)} of ${counted(now.jobs, "job")} over`}`}
                    {now.next !== null && !ends && ` · next message at ${moment(now.next)}`}
                    {now.stopped_by && ` · ${now.stopped_by}`}
                    {now.error && <span class="bad">{` ${now.error}`}</span>}
                    {second && ` · ${second.name}: at ${moment(second.now ?? 0)}`}
                </span>
            )}
            <LastMessage />
        </div>
    );
}

/** The message that was delivered last, as far as the actor of the view knows it. */
function LastMessage() {
    const last = useSignal<Message | null>(null);
    useEffect(() => {
        let asked = 0;
        return effect(() => {
            const [id, now] = [state.viewId.value, state.simulation.value];
            void [now?.version, state.asActor.value];
            asked += 1;
            const mine = asked;
            if (!now) return void (last.value = null);
            api.last(id)
                .then((it) => {
                    if (mine === asked) last.value = it;
                })
                .catch(state.complain);
        });
    }, []);
    const it = last.value;
    const as = state.asActor.value;
    if (!it) return <p class="last" data-testid="last">{as === null ? "No message has been delivered." : `No message has been delivered to or from ${as}.`}</p>;
    return (
        <p class="last" data-testid="last">
            {"Last message: "}
            <Shown value={{ time: it.time }} />
            {it.sender === it.receiver ? ` · ${it.sender} to itself · ` : ` · ${it.sender} to ${it.receiver} · `}
            <b>{it.kind.replaceAll("_", " ")}</b>
            {it.job !== null && " "}
            {it.job !== null && (
                <button type="button" class="plain" onClick={() => state.select(it.job, { reveal: true })}>{`job ${it.job}`}</button>
            )}
            {it.values && it.values.length > 0 && (
                <>
                    {" · "}
                    <Named of={it.values} />
                </>
            )}
        </p>
    );
}

function Tool({ label, disabled, onClick, children }: { label: string; disabled: boolean; onClick: () => void; children: ComponentChildren }) {
    return (
        <button type="button" class="tool" title={label} aria-label={label} disabled={disabled} onClick={onClick}>
            {children}
        </button>
    );
}

/** A whole number above zero; null for another text. */
function readCount(text: string): number | null {
    const number = /^\d+$/.test(text.trim()) ? Number(text) : 0;
    return number > 0 ? number : null;
}

/** The number of a job, by this number or by its name in the table of jobs, such as `workload!12`. */
async function jobOf(text: string): Promise<number> {
    const words = text.trim();
    if (/^\d+$/.test(words)) return Number(words);
    const found = words === "" ? [] : (await api.find(state.viewId.value, words)).matches;
    const job = found.find((it) => it.kind === "job");
    if (!job) throw new Error(words === "" ? "Write the number of a job, or its name, for example `jobs!12`." : `No job that has arrived has the name \`${words}\`.`);
    return Number(job.id);
}

const KINDS = [
    ["starts", "a job starts"],
    ["ends", "a job ends"],
    ["message", "a message is delivered"],
    ["condition", "a condition over metrics holds"],
    ["time", "a time"],
    ["messages", "some messages are delivered"],
    ["instants", "some instants are over"],
] as const;

export function UntilForm() {
    const kind = useSignal<(typeof KINDS)[number][0]>("starts");
    const number = useSignal(state.job.value === null ? "" : String(state.job.value));
    const text = useSignal("");
    const [sender, receiver, word] = [useSignal(""), useSignal(""), useSignal("")];
    const wrong = useSignal<state.Notice | null>(null);
    const busy = useSignal(false);
    const step = async (): Promise<Step> => {
        switch (kind.value) {
            case "starts":
                return { starts: await jobOf(number.value) };
            case "ends":
                return { ends: await jobOf(number.value) };
            case "message": {
                const job = number.value.trim() === "" ? null : await jobOf(number.value);
                return { message: { sender: sender.value || null, receiver: receiver.value || null, kind: word.value.trim() || null, job } };
            }
            case "condition":
                if (text.value.trim() === "") throw new Error("Write an expression, for example `jobs_waiting > 10`.");
                return { condition: text.value };
            case "time": {
                const time = readTime(text.value);
                if (time === null) throw new Error("Write a time, for example `3d 04:00` or `90s`.");
                return { time };
            }
            case "messages":
            case "instants": {
                const count = readCount(text.value);
                if (count === null) throw new Error("Write a whole number above zero.");
                return kind.value === "messages" ? { messages: count } : { instants: count };
            }
        }
    };
    const submit = () => {
        busy.value = true;
        step()
            .then(async (made) => {
                await begin(made);
                breakpoint.value = made;
                state.dialog.value = null;
            })
            .catch((cause: unknown) => (wrong.value = state.noticeOf(cause)))
            .finally(() => (busy.value = false));
    };
    const isJob = kind.value === "starts" || kind.value === "ends" || kind.value === "message";
    const textual = { condition: ["Condition", "jobs_waiting > 10"], time: ["Time", "3d 04:00"], messages: ["Number of messages", "100"], instants: ["Number of instants", "10"] } as const;
    const field = isJob ? null : textual[kind.value as keyof typeof textual];
    return (
        <Form title="Run until" submit="Run" onSubmit={submit} wrong={wrong.value} busy={busy.value}>
            <label class="field">
                Stop when
                <select value={kind.value} onChange={(event) => (kind.value = event.currentTarget.value as typeof kind.value)}>
                    {KINDS.map(([id, words]) => (
                        <option value={id}>{words}</option>
                    ))}
                </select>
            </label>
            {isJob && (
                <label class="field">
                    {kind.value === "message" ? "About job (any if empty)" : "Job"}
                    <input placeholder="12 or jobs!12" value={number.value} onInput={(event) => (number.value = event.currentTarget.value)} />
                </label>
            )}
            {kind.value === "message" && (
                <>
                    <ActorChoice label="From" chosen={sender.value} choose={(it) => (sender.value = it)} />
                    <ActorChoice label="To" chosen={receiver.value} choose={(it) => (receiver.value = it)} />
                    <label class="field">
                        Kind (any if empty)
                        <input value={word.value} onInput={(event) => (word.value = event.currentTarget.value)} />
                    </label>
                    <select id="kinds" size={6} aria-label="Kinds with these letters" value={word.value} onChange={(event) => (word.value = event.currentTarget.value)}>
                        {state.overview.value?.kinds.filter((it) => it.includes(word.value.trim())).map((it) => (
                            <option value={it}>{it}</option>
                        ))}
                    </select>
                </>
            )}
            {field && (
                <label class="field">
                    {field[0]}
                    <input list={kind.value === "condition" ? "metrics" : ""} value={text.value} placeholder={field[1]} onInput={(event) => (text.value = event.currentTarget.value)} />
                    <datalist id="metrics">
                        {state.overview.value?.metrics.map((it) => (
                            <option value={`${it.name} > `}>{it.title}</option>
                        ))}
                    </datalist>
                </label>
            )}
            {kind.value === "condition" && <p class="hint">{`An expression over metrics: ${state.overview.value?.metrics.map((it) => it.name).join(", ") ?? ""}`}</p>}
        </Form>
    );
}

function ActorChoice({ label, chosen, choose }: { label: string; chosen: string; choose: (name: string) => void }) {
    return (
        <label class="field">
            {label}
            <select value={chosen} onChange={(event) => choose(event.currentTarget.value)}>
                <option value="">any actor</option>
                {state.actorNames.value.map((it) => (
                    <option value={it.name}>{it.name}</option>
                ))}
            </select>
        </label>
    );
}

const WAYS = [
    ["time", "a time", "Time"],
    ["to", "the number of a message", "Message"],
    ["messages", "before the last messages", "Number of messages"],
    ["instants", "before the last instants", "Number of instants"],
] as const;

export function BackForm() {
    const kind = useSignal<(typeof WAYS)[number][0]>("time");
    const text = useSignal("");
    const wrong = useSignal<state.Notice | null>(null);
    const now = state.simulation.value;
    const back = (): Back | string => {
        if (kind.value === "time") {
            const time = readTime(text.value);
            return time === null ? "Write a time, for example `3d 04:00` or `90s`." : { time };
        }
        if (kind.value === "to") return /^\d+$/.test(text.value.trim()) ? { to: Number(text.value) } : "Write the number of a message.";
        const count = readCount(text.value);
        if (count === null) return "Write a whole number above zero.";
        return kind.value === "messages" ? { messages: count } : { instants: count };
    };
    const submit = () => {
        const made = back();
        if (typeof made === "string") return void (wrong.value = mistake(made));
        state.dialog.value = null;
        goBack(made);
    };
    // An actor is told the number of its own messages alone; the simulation goes back by the number of all.
    const after = now && state.asActor.value === null ? `, after ${counted(now.messages, "message")}` : "";
    return (
        <Form title="Go back" submit="Back" onSubmit={submit} wrong={wrong.value}>
            <label class="field">
                To
                <select value={kind.value} onChange={(event) => (kind.value = event.currentTarget.value as typeof kind.value)}>
                    {WAYS.map(([id, words]) => (
                        <option value={id}>{words}</option>
                    ))}
                </select>
            </label>
            <label class="field">
                {WAYS.find(([id]) => id === kind.value)?.[2]}
                <input value={text.value} onInput={(event) => (text.value = event.currentTarget.value)} />
            </label>
            {now && <p class="hint">{`The simulation is at ${at(now.now)}${after}. It can go back to its start, before message 1. Numbers count the messages of all actors.`}</p>}
        </Form>
    );
}

const linesOf = (text: string) =>
    text
        .split("\n")
        .map((line) => line.trim())
        .filter((line) => line !== "");

export function BranchForm() {
    const [set, fail, submitted, seed] = [useSignal(""), useSignal(""), useSignal(""), useSignal("")];
    const wrong = useSignal<state.Notice | null>(null);
    const busy = useSignal(false);
    const submit = () => {
        if (!/^\d*$/.test(seed.value.trim())) return void (wrong.value = mistake("The seed is a whole number."));
        busy.value = true;
        wrong.value = null;
        const base = state.viewId.value;
        const changes = { set: linesOf(set.value), fail: linesOf(fail.value), submit: submitted.value.trim() === "" ? null : submitted.value, ...(seed.value.trim() === "" ? {} : { seed: Number(seed.value) }) };
        void api
            .branch(base, changes)
            .then(async (made) => {
                await state.loadViews();
                state.dialog.value = null;
                if (!made) return;
                await state.openView(made.id, { keepTime: true, beside: base });
                state.sideOpen.value = true;
                state.tab.value = "compare";
            })
            .catch((cause: unknown) => (wrong.value = state.noticeOf(cause)))
            .finally(() => (busy.value = false));
    };
    return (
        <Form title="Branch from here" submit="Branch" onSubmit={submit} wrong={wrong.value} busy={busy.value}>
            <label class="field">
                Settings, one a line
                <textarea rows={3} spellcheck={false} placeholder={"provider.north.policy=fcfs"} value={set.value} onInput={(event) => (set.value = event.currentTarget.value)} />
            </label>
            <label class="field">
                Failures, one a line
                <textarea rows={2} spellcheck={false} placeholder={"north:8@3d..4d"} value={fail.value} onInput={(event) => (fail.value = event.currentTarget.value)} />
            </label>
            <label class="field">
                Jobs to submit (TOML)
                <textarea rows={4} spellcheck={false} value={submitted.value} onInput={(event) => (submitted.value = event.currentTarget.value)} />
            </label>
            <label class="field">
                Seed of the draws from here on (the same if empty)
                <input inputMode="numeric" value={seed.value} onInput={(event) => (seed.value = event.currentTarget.value)} />
            </label>
            <p class="hint">The branch is a view of its own from this instant. Both are shown on one axis, and compared. The key Y steps both to the same time.</p>
        </Form>
    );
}
