/** The legend: the looks that occur in the view, drawn as in the charts, with the names of its workloads. */

import { effect, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";

import { api, type Legend } from "./api";
import { Form } from "./form";
import { Newest } from "./newest";
import * as state from "./state";
import { PLAIN, Swatch } from "./swatch";
import { CLASSES, DIFFERENCES, FLAGS, MARKS, PROMISES } from "./tile";

/** How bars of a class are told apart beside their colour. */
const CLASS_LOOKS = ["plain", "with a line along the lower edge", "plain", "with a second frame", "plain", "with a dashed frame"];
const FLAG_LOOKS: ReadonlyMap<number, string> = new Map([
    [16, "hatched, pale"],
    [32, "without an end"],
    [64, "only an outline"],
    [128, "upright lines, pale"],
]);

export function LegendDialog() {
    const found = useSignal<Legend | null>(null);
    const wrong = useSignal<state.Notice | null>(null);
    useEffect(() => {
        const newest = new Newest<Legend>();
        const stop = effect(() => {
            const id = state.viewId.value;
            void state.dataVersion.value;
            newest.ask({
                load: (signal) => api.legend(id, signal),
                then: (it) => (found.value = it),
                failed: (cause) => (wrong.value = state.noticeOf(cause)),
            });
        });
        return () => {
            stop();
            newest.forget();
        };
    }, []);
    return (
        <Form title="Legend" wrong={wrong.value}>
            {found.value ? <Looks of={found.value} compared={state.besideId.value !== null} /> : wrong.value === null && <p class="hint" role="status">Reading …</p>}
        </Form>
    );
}

interface Entry {
    readonly style?: number;
    readonly mark?: number;
    readonly promise?: number;
    readonly density?: number;
    readonly words: string;
    readonly look?: string;
}

function Looks({ of, compared }: { of: Legend; compared: boolean }) {
    const workloads = of.colours.map(({ colour, names, more }): Entry => ({ style: colour << 16, words: `${names.join(", ") || "unknown workload"}${more > 0 ? ` and ${more} more` : ""}` }));
    const differences = DIFFERENCES.flatMap((words, at): Entry[] => (at === 0 ? [] : [{ style: at << 8, words }]));
    const classes = of.classes.map((at): Entry => ({ style: PLAIN | at, words: CLASSES[at] ?? "bar", look: CLASS_LOOKS[at] ?? "" }));
    const flags = of.flags.map((bit): Entry => ({ style: PLAIN | bit, words: FLAGS.get(bit) ?? "", look: FLAG_LOOKS.get(bit) ?? "" }));
    const marks = of.marks.map((mark): Entry => ({ mark, words: MARKS[mark] ?? "" }));
    const promises = of.ticks.map((promise): Entry => ({ promise, words: `promised completion: ${PROMISES[promise] ?? ""}` }));
    const shades = [1, 0.5, 0.1].map((density): Entry => ({ density, words: `${100 * density} % of the pixel in use` }));
    return (
        <div data-testid="legend">
            {compared ? <List title="Start against the other view" entries={differences} /> : <List title="Workloads" entries={workloads} />}
            <List title="Kinds of bars" entries={[...classes, ...flags]} />
            <List title="Failures and other times without use" entries={marks} />
            <List title="Promises" entries={promises} />
            <List title="Bars below one pixel" entries={shades} />
            {of.colours.some((it) => it.names.length + it.more > 1) && !compared && <p class="hint">There are eight colours: several workloads have one.</p>}
        </div>
    );
}

function List({ title, entries }: { title: string; entries: readonly Entry[] }) {
    if (entries.length === 0) return null;
    return (
        <section>
            <h3>{title}</h3>
            <ul class="swatches">
                {entries.map(({ words, look, ...drawn }) => (
                    <li>
                        <Swatch {...drawn} />
                        <span>
                            {words}
                            {look && <small>{` ${look}`}</small>}
                        </span>
                    </li>
                ))}
            </ul>
        </section>
    );
}
