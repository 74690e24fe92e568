/** Messages as a sequence chart: on the time axis with a line for each actor, and in order beside it. */

import { Canvas, type Drawing } from "./canvas";
import { position } from "./axis";
import { crosshair, gutter, plotWidth } from "./measure";
import { actorsIn, listFrom, messageActor, messages, MESSAGES_MOST, pointed, scopeNow, type Scope } from "./messages";
import { useFit } from "./fitted";
import { actorNames, goTo, overview, select, tables, time } from "./state";
import { palette } from "./theme";
import { Named } from "./values";
import { at as timeInWords, compact, counted } from "./words";
import { intervalOn } from "./pointer";
import { tip } from "./tooltip";

const LANES_MOST = 12;

/** On the time axis. */
export function SequencePane() {
    const found = messages.value;
    if (!found || found.rows.length === 0) return null;
    const lanes = Math.min(actorsIn(found.rows).length, LANES_MOST);
    const marked = intervalOn(gutter(), plotWidth.value);
    return (
        <section class="pane sequence" aria-label="Messages on the time axis" style={tables.value ? {} : { height: `min(${30 + lanes * 18}px, 19vh)` }}>
            <h2 class="pane-title">{`Messages ${ofScope(found.scope)}${partOf(found)}`}</h2>
            <Canvas class="sequence-plot" draw={drawLanes} gestures={gestures} label="Messages over time; the tab Messages lists them" />
            {marked && <div class="interval" style={{ left: `${marked.left}px`, width: `${marked.width}px` }} />}
            <SequenceTable />
        </section>
    );
}

function SequenceTable() {
    return (
        <div class={tables.value ? "as-table" : "hidden-table"} tabIndex={tables.value ? 0 : -1} role="region" aria-label="Table of messages">
            <table>
                <thead>
                    <tr>
                        {["Time", "Message", "From", "To", "Job", "Fault"].map((it) => (
                            <th scope="col">{it}</th>
                        ))}
                    </tr>
                </thead>
                <tbody>
                    {messages.value?.rows.map((row) => (
                        <tr>
                            {[timeInWords(row.time), row.kind, row.sender, row.receiver, row.job ?? "–", row.fault ?? "–"].map((it) => (
                                <td>{it}</td>
                            ))}
                        </tr>
                    ))}
                </tbody>
            </table>
        </div>
    );
}

/** The listed part of the messages; empty if all are listed. */
function partOf({ first, rows, total }: { readonly first: number; readonly rows: readonly unknown[]; readonly total: number }): string {
    return total > rows.length ? `: ${compact(first + 1)} to ${compact(first + rows.length)} of ${compact(total)}` : "";
}

function ofScope(scope: Scope): string {
    if (scope === null) return "";
    return scope.kind === "job" ? `of job ${scope.job}` : "of the interval";
}

const laneY = (lane: number, lanes: number, height: number) => ((lane + 0.5) / lanes) * height;

function drawLanes({ context, width, height }: Drawing): void {
    const rows = messages.value?.rows ?? [];
    const names = actorsIn(rows).slice(0, LANES_MOST);
    const colours = palette.value;
    const [left, wide] = [gutter(), plotWidth.value];
    context.font = '11px system-ui, "DejaVu Sans", sans-serif';
    context.textBaseline = "middle";
    // Names that would cover each other are left out.
    const each = Math.max(1, Math.ceil((11 * names.length) / Math.max(height, 1)));
    names.forEach((name, lane) => {
        const y = laneY(lane, names.length, height);
        context.fillStyle = colours.soft;
        context.textAlign = "right";
        if (lane % each === 0) context.fillText(name.length > 16 ? `${name.slice(0, 15)}…` : name, left - 6, y);
        context.fillStyle = colours.line;
        context.fillRect(left, Math.round(y), width - left, 1);
    });
    context.beginPath();
    context.rect(left, 0, wide, height);
    context.clip();
    for (const row of rows) {
        const x = left + position(time.value, row.time) * wide;
        if (x < left - 5 || x > left + wide + 5) continue;
        const [from, to] = [names.indexOf(row.sender), names.indexOf(row.receiver)];
        if (from < 0 || to < 0) continue;
        const strong = pointed.value === row;
        arrow(context, x, laneY(from, names.length, height), laneY(to, names.length, height), row.fault ? colours.broken : strong ? colours.ink : colours.accent, row.fault !== null, strong);
    }
}

function arrow(context: CanvasRenderingContext2D, x: number, from: number, to: number, colour: string, lost: boolean, strong: boolean): void {
    const down = to >= from ? 1 : -1;
    context.strokeStyle = colour;
    context.fillStyle = colour;
    context.lineWidth = strong ? 2.5 : 1.2;
    context.setLineDash(lost ? [3, 3] : []);
    context.beginPath();
    context.moveTo(x, from);
    context.lineTo(x, to - 3 * down);
    context.stroke();
    context.setLineDash([]);
    context.beginPath();
    context.arc(x, from, 1.8, 0, 2 * Math.PI);
    if (lost) {
        context.fill();
        context.beginPath();
        context.moveTo(x - 3, to - 6 * down - 3);
        context.lineTo(x + 3, to - 6 * down + 3);
        context.moveTo(x + 3, to - 6 * down - 3);
        context.lineTo(x - 3, to - 6 * down + 3);
        context.stroke();
    } else {
        context.moveTo(x, to);
        context.lineTo(x - 3.5, to - 7 * down);
        context.lineTo(x + 3.5, to - 7 * down);
        context.fill();
    }
}

function gestures(element: HTMLElement) {
    const nearest = (x: number) => {
        const rows = messages.value?.rows ?? [];
        const near = rows.map((row) => ({ row, away: Math.abs(gutter() + position(time.value, row.time) * plotWidth.value - x) }));
        const best = near.reduce<(typeof near)[number] | null>((a, b) => (a && a.away <= b.away ? a : b), null);
        return best && best.away < 8 ? best.row : null;
    };
    return {
        axis: () => ({ left: gutter(), width: plotWidth.value }),
        hover: (x: number, _y: number, event: PointerEvent) => {
            crosshair.value = x >= gutter() ? event.clientX : null;
            const row = nearest(x);
            pointed.value = row;
            const fault = row?.fault ? ` (${row.fault})` : "";
            tip.value = row ? { x: event.clientX, y: event.clientY, lines: [`${row.kind}${fault}`, `${row.sender} → ${row.receiver}`, timeInWords(row.time)] } : null;
        },
        leave: () => {
            crosshair.value = null;
            pointed.value = null;
            tip.value = null;
        },
        click: (x: number) => {
            const row = nearest(x);
            if (row?.job != null) select(row.job, { open: false });
        },
        element,
    };
}

/** In order, as a table with a column for each actor. */
export function MessagesTab() {
    const found = messages.value;
    const scope = scopeNow();
    return (
        <div class="tab-body">
            <ActorFilter />
            {overview.value?.messages === "counts" && <p class="hint">The run has only counts of messages. With `messages = "all"` under `[results]`, a run keeps all of them.</p>}
            {overview.value?.messages === "none" && <p class="hint">The run has no table of messages. With `messages = "all"` under `[results]`, a run keeps all of them.</p>}
            {!scope && <p class="hint">Select a job, or an interval with Shift and a drag: its messages are listed here and drawn on the time axis.</p>}
            {found?.note && <p class="hint">{found.note}</p>}
            {scope && found && found.rows.length === 0 && !found.note && <p class="hint">{`No message ${ofScope(scope)}.`}</p>}
            {scope && found && found.rows.length > 0 && <Ordered />}
        </div>
    );
}

function ActorFilter() {
    return (
        <label class="field">
            Actor
            <select value={messageActor.value ?? ""} onChange={(event) => (messageActor.value = event.currentTarget.value || null)}>
                <option value="">all actors</option>
                {actorNames.value.slice(0, 2000).map((actor) => (
                    <option value={actor.name}>{actor.name}</option>
                ))}
            </select>
        </label>
    );
}

const COLUMN = 58;

function Ordered() {
    const found = messages.value;
    const box = useFit();
    if (!found) return null;
    const names = actorsIn(found.rows).slice(0, LANES_MOST);
    const width = names.length * COLUMN;
    return (
        <>
            <p class="count">{`${counted(found.total, "message")} ${ofScope(found.scope)}${partOf(found)}`}</p>
            {found.total > found.rows.length && (
                <div class="row">
                    <button type="button" class="small" disabled={found.first === 0} onClick={() => listFrom(Math.max(found.first - MESSAGES_MOST, 0))}>
                        Previous
                    </button>
                    <button type="button" class="small" disabled={found.first + found.rows.length >= found.total} onClick={() => listFrom(found.first + MESSAGES_MOST)}>
                        Next
                    </button>
                </div>
            )}
            <div class="wide" ref={box} tabIndex={0} role="region" aria-label="Messages in order">
                <table class="messages">
                    <thead>
                        <tr>
                            <th scope="col">Time</th>
                            <th scope="col">Message</th>
                            <th scope="col" class="lanes" style={{ width: `${width}px` }}>
                                <svg width={width} height="46" aria-hidden="true">
                                    {names.map((name, lane) => (
                                        <text x={lane * COLUMN + COLUMN / 2} y={lane % 2 === 0 ? 14 : 32} text-anchor="middle">
                                            {name.length > 14 ? `${name.slice(0, 13)}…` : name}
                                        </text>
                                    ))}
                                </svg>
                                <span class="only-read">From and to</span>
                            </th>
                        </tr>
                    </thead>
                    <tbody>
                        {found.rows.map((row) => (
                            <tr class={pointed.value === row ? "pointed" : ""} onPointerEnter={() => (pointed.value = row)} onPointerLeave={() => (pointed.value = null)}>
                                <td>
                                    <button type="button" class="plain" onClick={() => goTo(row.time)}>
                                        {timeInWords(row.time)}
                                    </button>
                                </td>
                                <td>
                                    {row.kind}
                                    {row.fault && <em class="bad">{` ${row.fault}`}</em>}
                                    {row.job !== null && found.scope?.kind !== "job" && " "}
                                    {row.job !== null && found.scope?.kind !== "job" && (
                                        <button type="button" class="plain" onClick={() => select(row.job, { reveal: true, open: false })}>{`job ${row.job}`}</button>
                                    )}
                                    <span class="parties">{row.sender === row.receiver ? ` · ${row.sender} to itself` : ` · ${row.sender} to ${row.receiver}`}</span>
                                    {row.values && row.values.length > 0 && (
                                        <p class="contents">
                                            <Named of={row.values} />
                                        </p>
                                    )}
                                </td>
                                <td class="lanes">
                                    <Arrow names={names} sender={row.sender} receiver={row.receiver} lost={row.fault !== null} />
                                </td>
                            </tr>
                        ))}
                    </tbody>
                </table>
            </div>
        </>
    );
}

function Arrow({ names, sender, receiver, lost }: { names: readonly string[]; sender: string; receiver: string; lost: boolean }) {
    const x = (name: string) => Math.max(names.indexOf(name), 0) * COLUMN + COLUMN / 2;
    const [from, to] = [x(sender), x(receiver)];
    const way = to >= from ? 1 : -1;
    return (
        <svg width={names.length * COLUMN} height="20" aria-hidden="true" class={lost ? "arrow lost" : "arrow"}>
            {names.map((name) => (
                <line class="life" x1={x(name)} x2={x(name)} y1="0" y2="20" />
            ))}
            {from === to ? (
                <path d={`M${from} 5h12v10h-8`} />
            ) : (
                <>
                    <line x1={from} x2={to - 5 * way} y1="10" y2="10" />
                    <path class="tip-of" d={`M${to} 10l${-8 * way} -4v8z`} />
                    <circle cx={from} cy="10" r="2.5" />
                    {lost && <path d={`M${(from + to) / 2 - 4} 6l8 8m0 -8l-8 8`} />}
                </>
            )}
        </svg>
    );
}
