/** Stepping a simulation: the bar below the header, and the forms for breakpoints, going back and branches. */

import { signal, useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";

import { api, type Back, type Step } from "./api";
import { Form } from "./form";
import * as state from "./state";
import { readTime } from "./ticks";
import { at, compact } from "./words";

/** The last breakpoint of the form; Enter runs to it again. */
const breakpoint = signal<Step | null>(null);

const paused = () => state.simulation.value?.state === "paused";

async function act(action: () => Promise<unknown>): Promise<void> {
    try {
        state.notice.value = null;
        await action();
    } catch (cause) {
        state.complain(cause);
    }
}

export function stepBy(step: Step): void {
    if (!state.isSimulation.value) return;
    if (state.simulation.value?.state === "running") return state.say("The simulation is running. Stop it first.");
    void act(() => api.step(state.viewId.value, step));
}

export function stopRun(): void {
    void act(() => api.stop(state.viewId.value));
}

export function goBack(to: Back): void {
    if (state.simulation.value?.state === "running") return state.say("The simulation is running. Stop it first.");
    void act(() => api.back(state.viewId.value, to));
}

export function runUntil(): void {
    if (breakpoint.value) stepBy(breakpoint.value);
    else state.dialog.value = "until";
}

export function StepBar() {
    const span = useSignal("1h");
    const now = state.simulation.value;
    if (!state.isSimulation.value) return null;
    const running = now?.state === "running";
    const idle = !paused();
    const ends = now?.state === "over" || now?.state === "failed";
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
            {now && (
                <span class="now" role="status" data-testid="now">
                    <b class={`state ${now.state}`}>{now.state}</b>
                    {` at ${at(now.now)} · ${compact(now.messages)} messages${now.jobs === null || now.jobs_over === null ? "" : ` · ${compact(now.jobs_over)} of ${compact(now.jobs)} jobs over`}`}
                    {now.next !== null && !ends && ` · next ${at(now.next)}`}
                    {now.stopped_by && ` · stopped by ${now.stopped_by}`}
                    {now.error && <span class="bad">{` ${now.error}`}</span>}
                </span>
            )}
        </div>
    );
}

function Tool({ label, disabled, onClick, children }: { label: string; disabled: boolean; onClick: () => void; children: ComponentChildren }) {
    return (
        <button type="button" class="tool" title={label} aria-label={label} disabled={disabled} onClick={onClick}>
            {children}
        </button>
    );
}

const KINDS = [
    ["starts", "a job starts"],
    ["ends", "a job ends"],
    ["message", "a message is delivered"],
    ["condition", "a condition over metrics holds"],
    ["time", "a time"],
] as const;

export function UntilForm() {
    const kind = useSignal<(typeof KINDS)[number][0]>("starts");
    const number = useSignal(state.job.value === null ? "" : String(state.job.value));
    const text = useSignal("");
    const [sender, receiver, word] = [useSignal(""), useSignal(""), useSignal("")];
    const wrong = useSignal<string | null>(null);
    const step = (): Step | string => {
        const job = /^\d+$/.test(number.value.trim()) ? Number(number.value) : null;
        switch (kind.value) {
            case "starts":
                return job === null ? "Write the number of a job." : { starts: job };
            case "ends":
                return job === null ? "Write the number of a job." : { ends: job };
            case "message":
                return { message: { sender: sender.value || null, receiver: receiver.value || null, kind: word.value.trim() || null, job } };
            case "condition":
                return text.value.trim() === "" ? "Write an expression, for example `jobs_waiting > 10`." : { condition: text.value };
            case "time": {
                const time = readTime(text.value);
                return time === null ? "Write a time, for example `3d 04:00` or `90s`." : { time };
            }
        }
    };
    const submit = () => {
        const made = step();
        if (typeof made === "string") return void (wrong.value = made);
        breakpoint.value = made;
        state.dialog.value = null;
        stepBy(made);
    };
    return (
        <Form title="Run until" submit="Run" onSubmit={submit} wrong={wrong.value}>
            <label class="field">
                Stop when
                <select value={kind.value} onChange={(event) => (kind.value = event.currentTarget.value as typeof kind.value)}>
                    {KINDS.map(([id, words]) => (
                        <option value={id}>{words}</option>
                    ))}
                </select>
            </label>
            {kind.value !== "condition" && kind.value !== "time" && (
                <label class="field">
                    {kind.value === "message" ? "About job (any if empty)" : "Job"}
                    <input inputMode="numeric" value={number.value} onInput={(event) => (number.value = event.currentTarget.value)} />
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
                </>
            )}
            {(kind.value === "condition" || kind.value === "time") && (
                <label class="field">
                    {kind.value === "time" ? "Time" : "Condition"}
                    <input
                        list={kind.value === "condition" ? "metrics" : ""}
                        value={text.value}
                        placeholder={kind.value === "time" ? "3d 04:00" : "jobs_waiting > 10"}
                        onInput={(event) => (text.value = event.currentTarget.value)}
                    />
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

export function BackForm() {
    const kind = useSignal<"time" | "to">("time");
    const text = useSignal("");
    const wrong = useSignal<string | null>(null);
    const now = state.simulation.value;
    const submit = () => {
        const value = kind.value === "time" ? readTime(text.value) : /^\d+$/.test(text.value.trim()) ? Number(text.value) : null;
        if (value === null) return void (wrong.value = kind.value === "time" ? "Write a time, for example `3d 04:00` or `90s`." : "Write the number of a message.");
        state.dialog.value = null;
        goBack(kind.value === "time" ? { time: value } : { to: value });
    };
    return (
        <Form title="Go back" submit="Back" onSubmit={submit} wrong={wrong.value}>
            <label class="field">
                To
                <select value={kind.value} onChange={(event) => (kind.value = event.currentTarget.value as "time" | "to")}>
                    <option value="time">a time</option>
                    <option value="to">the number of a message</option>
                </select>
            </label>
            <label class="field">
                {kind.value === "time" ? "Time" : "Message"}
                <input value={text.value} onInput={(event) => (text.value = event.currentTarget.value)} />
            </label>
            {now && <p class="hint">{`The simulation is at ${at(now.now)}, message ${now.messages}. It can go back to message ${now.earliest}.`}</p>}
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
    const wrong = useSignal<string | null>(null);
    const busy = useSignal(false);
    const submit = () => {
        if (!/^\d*$/.test(seed.value.trim())) return void (wrong.value = "The seed is a whole number.");
        busy.value = true;
        wrong.value = null;
        const base = state.viewId.value;
        const changes = { set: linesOf(set.value), fail: linesOf(fail.value), submit: submitted.value.trim() === "" ? null : submitted.value, ...(seed.value.trim() === "" ? {} : { seed: Number(seed.value) }) };
        void api
            .branch(base, changes)
            .then(async (made) => {
                await state.loadViews();
                state.dialog.value = null;
                if (made) await state.openView(made.id, { keepTime: true, beside: base });
            })
            .catch((cause: unknown) => {
                const help = cause instanceof Error && "help" in cause && typeof cause.help === "string" ? ` ${cause.help}` : "";
                wrong.value = `${cause instanceof Error ? cause.message : String(cause)}${help}`;
            })
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
            <p class="hint">The branch is a view of its own from this instant. Both are shown on one axis, and either can be stepped.</p>
        </Form>
    );
}
