/** The selected job: its story, its attempts and all of its values. */

import type { Typed, Value } from "./api";
import { Fitted } from "./fitted";
import { asActor, details, detailsError, goTo, job, neighbour, select, zoomToSelection } from "./state";
import { partsOf, type StoryLine, type StoryTable } from "./story";
import { Records } from "./values";
import { at, spanOfSeconds, valueInWords } from "./words";

/** Fields of attempts and promises that are times of the interface, µs. */
const TIMES = new Set(["queued", "start", "end", "time"]);

const withTimes = (record: Readonly<Record<string, Value>>): Readonly<Record<string, Typed>> =>
    Object.fromEntries(Object.entries(record).map(([name, value]) => [name, TIMES.has(name) && typeof value === "number" ? { time: value } : value]));

export function JobTab() {
    const shown = details.value;
    if (job.value === null) return <p class="hint">Select a job: click a bar or a row of the table, or press / and type its number.</p>;
    if (detailsError.value) return <p class="bad">{detailsError.value}</p>;
    if (!shown) return <p class="hint" role="status">{`Reading job ${job.value} …`}</p>;
    const { story } = shown;
    // An actor does not know whether there is one.
    const none = asActor.value === null ? ": none" : ": not known";
    return (
        <div class="tab-body" data-testid="job">
            <div class="row">
                <h3>{story?.title ?? `Job ${shown.job}`}</h3>
                <button type="button" class="small" title={`Previous job of the user ([)${shown.previous_of_user === null ? none : ""}`} disabled={shown.previous_of_user === null} onClick={() => neighbour(-1)} aria-label="Previous job of the user">
                    ◀
                </button>
                <button type="button" class="small" title={`Next job of the user (])${shown.next_of_user === null ? none : ""}`} disabled={shown.next_of_user === null} onClick={() => neighbour(1)} aria-label="Next job of the user">
                    ▶
                </button>
                <button type="button" class="small" title="Zoom to the job (Z)" onClick={zoomToSelection}>
                    Zoom
                </button>
                <button type="button" class="small" title="Select nothing (Escape)" onClick={() => select(null)} aria-label="Select nothing">
                    ✕
                </button>
            </div>
            {story && (
                <ol class="story" aria-label="Story of the job">
                    {partsOf(story.lines).map((part) => ("table" in part ? <TableItem table={part.table} /> : <LineItem line={part.line} />))}
                </ol>
            )}
            <Records title="Attempts" records={shown.attempts.map(withTimes)} />
            <Records title="Promises" records={shown.promises.map(withTimes)} />
            <h3>Values</h3>
            <table class="values">
                <tbody>
                    {shown.values.map(({ name, value, unit, meaning, hidden }) => (
                        <tr>
                            <th scope="row" title={meaning}>
                                {name}
                            </th>
                            <td title={spanOfSeconds(value, unit)}>
                                {hidden ? "not known" : valueInWords(value)}
                                {unit && value !== null && <small>{` ${unit}`}</small>}
                            </td>
                        </tr>
                    ))}
                </tbody>
            </table>
        </div>
    );
}

function LineItem({ line: { time, text } }: { line: StoryLine }) {
    return (
        <li>
            {time !== null && (
                <button type="button" class="plain" title="Show this time" onClick={() => goTo(time)}>
                    {at(time)}
                </button>
            )}
            <span class={time === null ? "line untimed" : "line"}>{text}</span>
        </li>
    );
}

function TableItem({ table: { head, rows, numeric } }: { table: StoryTable }) {
    return (
        <li>
            <div class="told">
                <Fitted label={`Table with ${head.filter((it) => it !== "").join(", ")}`} columns={head.map((name, column) => ({ name, numeric: numeric[column] ?? false }))} rows={rows.map((cells) => ({ cells }))} />
            </div>
        </li>
    );
}
