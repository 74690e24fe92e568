/** Two views on one axis: counts of the differences and the largest ones. */

import { effect, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";

import { api, type Differences } from "./api";
import { Fitted } from "./fitted";
import { Newest } from "./newest";
import { asActor, besideId, besideVersion, compareWith, complain, dataVersion, select, viewId, views } from "./state";
import { duration } from "./ticks";
import { Shown } from "./values";
import { compact } from "./words";
import { palette } from "./theme";
import { Swatch } from "./swatch";

/** Rows of a page of the list. */
const PAGE = 100;

/** Counts of `haggle compare`, with their words and colours. */
const COUNTS = [
    ["in_both", "in both", null],
    ["same", "start at the same time", 1],
    ["earlier", "start earlier here", 2],
    ["later", "start later here", 3],
    ["started_only_here", "start only here", null],
    ["started_only_there", "start only there", null],
    ["started_in_neither", "start in neither", null],
    ["other_provider", "at another provider", 4],
    ["other", "other jobs of one number", null],
    ["only_here", "only here", 5],
    ["only_there", "only there", null],
] as const;

export function CompareTab() {
    const found = useSignal<Differences | null>(null);
    const page = useSignal(0);
    useEffect(() => {
        const newest = new Newest<Differences>();
        const stop = effect(() => {
            const [id, other] = [viewId.value, besideId.value];
            void [dataVersion.value, besideVersion.value];
            if (other === null) {
                newest.forget();
                found.value = null;
                page.value = 0;
                return;
            }
            void asActor.value;
            const first = page.value;
            newest.ask({ load: (signal) => api.differences(id, other, first, PAGE, signal), then: (it) => (found.value = it), failed: complain });
        });
        return () => {
            stop();
            newest.forget();
        };
    }, []);
    const others = views.value.filter((it) => it.id !== viewId.value);
    return (
        <div class="tab-body" data-testid="compare">
            <label class="field">
                Compare with
                <select value={besideId.value ?? ""} onChange={(event) => void compareWith(event.currentTarget.value === "" ? null : Number(event.currentTarget.value)).catch(complain)}>
                    <option value="">nothing</option>
                    {others.map((it) => (
                        <option value={it.id}>{it.name}</option>
                    ))}
                </select>
            </label>
            {others.length === 0 && <p class="hint">There is no second view. Name two results folders at the start, or branch a simulation.</p>}
            {found.value && besideId.value !== null && <Counts of={found.value} turn={(first) => (page.value = first)} />}
        </div>
    );
}

function Counts({ of, turn }: { of: Differences; turn: (first: number) => void }) {
    void palette.value;
    return (
        <>
            <table class="values">
                <tbody>
                    {COUNTS.map(([key, words, difference]) => (
                        <tr>
                            <th scope="row">
                                {difference !== null && <Swatch style={difference << 8} />}
                                {words}
                            </th>
                            <td class="number">{compact(of[key])}</td>
                        </tr>
                    ))}
                    <tr>
                        <th scope="row">mean difference of starts</th>
                        <td class="number">{of.mean_delay === null ? "–" : signed(of.mean_delay * 1e6)}</td>
                    </tr>
                </tbody>
            </table>
            <h3>Largest differences</h3>
            {of.total > of.largest.length && (
                <p class="row">
                    <span>{`${compact(of.first + 1)} to ${compact(of.first + of.largest.length)} of ${compact(of.total)}`}</span>
                    <button type="button" class="small" disabled={of.first === 0} onClick={() => turn(Math.max(of.first - PAGE, 0))}>
                        Previous
                    </button>
                    <button type="button" class="small" disabled={of.first + of.largest.length >= of.total} onClick={() => turn(of.first + PAGE)}>
                        Next
                    </button>
                </p>
            )}
            <Fitted
                label="Largest differences"
                columns={["Job", "Start here", "Start there", "Difference", "Provider"].map((name) => ({ name }))}
                rows={of.largest.map((row) => ({
                    onClick: () => select(row.job, { reveal: true, open: false, times: [row.start_here, row.start_there].filter((it) => it !== null) }),
                    cells: [
                        <button type="button" class="plain">
                            {row.label}
                        </button>,
                        <Shown value={row.start_here === null ? null : { time: row.start_here }} />,
                        <Shown value={row.start_there === null ? null : { time: row.start_there }} />,
                        row.start_here === null || row.start_there === null ? "–" : signed(row.start_here - row.start_there),
                        row.provider_here === row.provider_there ? (row.provider_here ?? "–") : `${row.provider_here ?? "–"} / ${row.provider_there ?? "–"}`,
                    ],
                }))}
            />
        </>
    );
}

const signed = (span: number) => (span > 0 ? `+${duration(span)}` : duration(span));
