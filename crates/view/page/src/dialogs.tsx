/** The help with all keys, the legend, and the form that saves a picture. */

import { useSignal } from "@preact/signals";

import { api } from "./api";
import { interval as intervalOf } from "./axis";
import { Form } from "./form";
import { ACTIONS, keyInWords } from "./keys";
import { LegendDialog } from "./legend";
import * as state from "./state";
import { BackForm, BranchForm, UntilForm } from "./steps";

export function Dialogs() {
    switch (state.dialog.value) {
        case "help":
            return <Help />;
        case "legend":
            return <LegendDialog />;
        case "save":
            return <Save />;
        case "until":
            return <UntilForm />;
        case "back":
            return <BackForm />;
        case "branch":
            return <BranchForm />;
        case null:
            return null;
    }
}

function Help() {
    const groups = [...new Set(ACTIONS.map((it) => it.group))];
    return (
        <Form title="Keys" wide>
            <div class="keys" data-testid="keys">
                {groups.map((group) => (
                    <section>
                        <h3>{group}</h3>
                        <dl>
                            {ACTIONS.filter((it) => it.group === group).map((action) => (
                                <div>
                                    <dt>
                                        {action.keys.map((key) => (
                                            <kbd>{keyInWords(key)}</kbd>
                                        ))}
                                    </dt>
                                    <dd>{action.text}</dd>
                                </div>
                            ))}
                        </dl>
                    </section>
                ))}
            </div>
            <p class="hint">
                The wheel zooms about the pointer, with Alt the rows of a chart. A drag moves. Shift and a drag select an interval. A double click zooms to the job, from its submission to its end. Over the labels the wheel scrolls the charts.
            </p>
        </Form>
    );
}

const FORMATS = ["png", "svg", "pdf"] as const;

function Save() {
    const kinds = state.overview.value?.pictures ?? [];
    const kind = useSignal(kinds[0] ?? "gantt");
    const format = useSignal<(typeof FORMATS)[number]>("png");
    const [width, height] = [useSignal("1200"), useSignal("700")];
    const part = useSignal(true);
    const wrong = useSignal<state.Notice | null>(null);
    const busy = useSignal(false);
    const save = async () => {
        busy.value = true;
        wrong.value = null;
        try {
            const { from, until } = state.interval.value ?? intervalOf(state.time.value);
            const time = part.value ? { from: Math.max(from, state.bounds.value.from), to: Math.min(until, state.bounds.value.until) } : {};
            const ask = { kind: kind.value, format: format.value, job: state.job.value, width: width.value, height: height.value, ...time };
            const blob = await api.pictureBlob(state.viewId.value, ask);
            download(blob, `${kind.value}.${format.value}`);
            state.dialog.value = null;
        } catch (cause) {
            wrong.value = state.noticeOf(cause);
        } finally {
            busy.value = false;
        }
    };
    return (
        <Form title="Save a picture" submit="Save" onSubmit={() => void save()} wrong={wrong.value} busy={busy.value}>
            <label class="field">
                Figure
                <select value={kind.value} onChange={(event) => (kind.value = event.currentTarget.value)}>
                    {kinds.map((it) => (
                        <option value={it}>{it.replaceAll("-", " ")}</option>
                    ))}
                </select>
            </label>
            <label class="field">
                Format
                <select value={format.value} onChange={(event) => (format.value = event.currentTarget.value as (typeof FORMATS)[number])}>
                    {FORMATS.map((it) => (
                        <option value={it}>{it.toUpperCase()}</option>
                    ))}
                </select>
            </label>
            <label class="field">
                Width, px
                <input inputMode="numeric" value={width.value} onInput={(event) => (width.value = event.currentTarget.value)} />
            </label>
            <label class="field">
                Height, px
                <input inputMode="numeric" value={height.value} onInput={(event) => (height.value = event.currentTarget.value)} />
            </label>
            <label class="check">
                <input type="checkbox" checked={part.value} onChange={(event) => (part.value = event.currentTarget.checked)} />
                Only the interval or the window
            </label>
            <p class="hint">The figure is that of `haggle plot`. In a Gantt chart, colours are classes of jobs, and numbers are those in their workloads.</p>
        </Form>
    );
}

function download(blob: Blob, name: string): void {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
