/** The search field: it jumps to a job, a chart, a resource or an actor. */

import { useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";

import { api, type Found, type Match } from "./api";
import { Newest } from "./newest";
import { actorShown, complain, overview, revealed, select, setRows, sideOpen, tab, viewId } from "./state";

export function Search() {
    const text = useSignal("");
    const matches = useSignal<readonly Match[]>([]);
    const more = useSignal(false);
    const chosen = useSignal(0);
    const timer = useRef<ReturnType<typeof setTimeout> | null>(null);
    const newest = useRef(new Newest<Found>());
    const input = useRef<HTMLInputElement>(null);

    const close = () => {
        newest.current.forget();
        matches.value = [];
        text.value = "";
        input.current?.blur();
    };
    const go = (match: Match | undefined) => {
        if (!match) return;
        jump(match);
        close();
    };
    const ask = (then?: () => void) => {
        const words = text.value.trim();
        if (words === "") {
            newest.current.forget();
            matches.value = [];
            return;
        }
        const id = viewId.value;
        newest.current.ask({
            load: (signal) => api.find(id, words, signal),
            then: (found) => {
                matches.value = found.matches;
                more.value = found.more;
                chosen.value = 0;
                then?.();
            },
            failed: complain,
        });
    };
    const typed = (value: string) => {
        text.value = value;
        if (timer.current !== null) clearTimeout(timer.current);
        timer.current = setTimeout(() => ask(), 120);
    };
    const pressed = (event: KeyboardEvent) => {
        const count = matches.value.length;
        if (event.key === "ArrowDown" || event.key === "ArrowUp") {
            event.preventDefault();
            const by = event.key === "ArrowDown" ? 1 : count - 1;
            if (count > 0) chosen.value = (chosen.value + by) % count;
        } else if (event.key === "Enter") {
            event.preventDefault();
            if (timer.current !== null) clearTimeout(timer.current);
            // The list may be that of a shorter text.
            const number = chosen.value;
            ask(() => go(matches.value[number] ?? matches.value[0]));
        } else if (event.key === "Escape") close();
    };
    const open = matches.value.length > 0;
    return (
        <div class="search">
            <input
                id="search"
                ref={input}
                type="text"
                role="combobox"
                aria-expanded={open}
                aria-controls="matches"
                aria-autocomplete="list"
                aria-label="Search a job, chart, resource or actor"
                {...(open ? { "aria-activedescendant": `match-${chosen.value}` } : {})}
                placeholder="Search  /"
                spellcheck={false}
                autocomplete="off"
                value={text.value}
                onInput={(event) => typed(event.currentTarget.value)}
                onKeyDown={pressed}
                onBlur={() => setTimeout(() => (matches.value = []), 150)}
            />
            <ul id="matches" role="listbox" aria-label="Matches" hidden={!open}>
                {matches.value.map((match, at) => (
                    <li id={`match-${at}`} role="option" aria-selected={at === chosen.value} onPointerDown={(event) => (event.preventDefault(), go(match))}>
                        <small>{match.kind}</small>
                        {` ${match.label}`}
                    </li>
                ))}
                {open && more.value && (
                    <li role="option" aria-selected={false} aria-disabled="true" class="more">
                        More things match: type more of the name.
                    </li>
                )}
            </ul>
        </div>
    );
}

const ROWS_AROUND = 4;

function jump(match: Match): void {
    if (match.kind === "job") return select(Number(match.id), { reveal: true });
    if (match.kind === "actor") {
        actorShown.value = match.label;
        sideOpen.value = true;
        tab.value = "actors";
        return;
    }
    const number = match.kind === "chart" ? Number(match.id) : match.chart;
    const chart = overview.value?.charts.find((it) => it.id === number);
    if (!chart) return;
    const row = match.row ?? 0;
    if (match.kind === "band") setRows(chart, { first: row - ROWS_AROUND, rows: 3 * ROWS_AROUND });
    revealed.value = { chart: chart.id, row };
}
