/** Round steps of the time axis and elapsed time in words, such as `3d 04:00` and `1.5 ms`. */

import { timeAt, type TimeWindow } from "./axis";

const MS = 1_000;
const S = 1_000_000;
const MINUTE = 60 * S;
const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/** Steps below one day; from there on, round numbers of days. */
const STEPS = [
    ...[1, 2, 5, 10, 20, 50, 100, 200, 500],
    ...[1, 2, 5, 10, 20, 50, 100, 200, 500].map((it) => it * MS),
    ...[1, 2, 5, 10, 15, 30].map((it) => it * S),
    ...[1, 2, 5, 10, 15, 30].map((it) => it * MINUTE),
    ...[1, 2, 3, 6, 12].map((it) => it * HOUR),
];

/** The least round step that is at least this long, µs. */
export function roundStep(least: number): number {
    const small = STEPS.find((step) => step >= least);
    if (small !== undefined) return small;
    for (let power = DAY; ; power *= 10) {
        const step = [1, 2, 5].map((it) => it * power).find((it) => it >= least);
        if (step !== undefined) return step;
    }
}

export interface Tick {
    readonly time: number;
    readonly label: string;
    /** True where a larger unit begins: a new day, hour, minute, second or millisecond. */
    readonly major: boolean;
}

export interface Ticks {
    readonly ticks: readonly Tick[];
    /** The whole time that labels such as `+12 µs` count from; null if all labels are whole times. */
    readonly from: string | null;
}

/** From here on, a time with parts of a second is too long for a label. */
const LONG = MINUTE;

/** Ticks of a window that is this many pixels wide. */
export function ticks(window: TimeWindow, width: number, least = 90): Ticks {
    const step = roundStep((least * window.span) / Math.max(width, 1));
    const larger = [MS, S, MINUTE, HOUR, DAY].find((unit) => unit > step) ?? step * 10;
    const first = Math.ceil((window.origin + window.offset) / step) * step;
    const last = timeAt(window, 1);
    // Labels count from the begin of a unit that is longer than the window, so that no two are equal.
    const base = step < S && last >= LONG ? ([MS, S, MINUTE, HOUR].find((unit) => unit > window.span) ?? DAY) : null;
    const found: Tick[] = [];
    for (let time = first; time <= last; time += step) {
        const rest = base === null ? 0 : modulo(time, base);
        const label = rest === 0 ? elapsed(time, base ?? step) : `+${elapsed(rest, step)}`;
        found.push({ time, label, major: time % larger === 0 });
    }
    // The begin itself is not named twice.
    const from = base === null || found[0]?.label.startsWith("+") === false ? null : elapsed(first - modulo(first, base), base);
    return { ticks: found, from };
}

const modulo = (time: number, base: number) => ((time % base) + base) % base;

const two = (number: number) => String(number).padStart(2, "0");

/**
 * Elapsed time from 0, as precise as a step needs: days and clock time, then seconds with their decimals.
 * Times below one second have one unit.
 */
export function elapsed(time: number, step = 1): string {
    if (time < 0) return `-${elapsed(-time, step)}`;
    if (time === 0) return "0";
    if (time < MS) return `${time} µs`;
    if (time < S) return `${decimal(time / MS, step / MS)} ms`;
    const days = Math.floor(time / DAY);
    const day = days > 0 ? `${days}d` : "";
    if (step >= DAY) return day;
    const rest = time - days * DAY;
    const [hours, minutes] = [Math.floor(rest / HOUR), Math.floor((rest % HOUR) / MINUTE)];
    if (days === 0 && time < MINUTE) return `${seconds(rest, step)} s`;
    const clock = `${two(hours)}:${two(minutes)}`;
    const within = rest % MINUTE;
    const whole = step >= MINUTE && within === 0;
    const text = whole ? clock : `${clock}:${within < 10 * S ? "0" : ""}${seconds(within, step)}`;
    return day === "" ? text : `${day} ${text}`;
}

/** A span in one or two units, such as `2 h 05 min`. */
export function duration(span: number | null): string {
    if (span === null) return "–";
    if (span < 0) return `-${duration(-span)}`;
    if (span < MS) return `${Math.round(span)} µs`;
    if (span < S) return `${trimmed(span / MS)} ms`;
    if (span < MINUTE) return `${trimmed(span / S)} s`;
    if (span < HOUR) return `${Math.floor(span / MINUTE)} min ${two(Math.floor((span % MINUTE) / S))} s`;
    if (span < DAY) return `${Math.floor(span / HOUR)} h ${two(Math.floor((span % HOUR) / MINUTE))} min`;
    return `${Math.floor(span / DAY)} d ${two(Math.floor((span % DAY) / HOUR))} h`;
}

const trimmed = (number: number) => String(Number(number.toPrecision(3)));

function decimal(number: number, step: number): string {
    const places = step >= 1 ? 0 : Math.min(6, Math.ceil(-Math.log10(step) - 1e-9));
    const text = number.toFixed(places);
    return places === 0 && Math.abs(number - Math.round(number)) > 1e-9 ? trimmed(number) : text;
}

/** Seconds with the decimals that a step needs, taken from whole microseconds. */
function seconds(time: number, step: number): string {
    const places = step >= S ? 0 : Math.min(6, Math.ceil(-Math.log10(step / S) - 1e-9));
    const whole = Math.floor(time / S);
    if (places === 0 && time % S === 0) return String(whole);
    const needed = places === 0 ? 6 : places;
    const digits = String(time % S).padStart(6, "0").slice(0, needed);
    return `${whole}.${places === 0 ? digits.replace(/0+$/, "") : digits}`;
}

/** Reads `3d 4h`, `04:30`, `90s`, `1.5 ms` or seconds, as µs; null if the text is none of these. */
export function readTime(text: string): number | null {
    const trimmedText = text.trim();
    if (trimmedText === "") return null;
    if (/^\d+(\.\d+)?$/.test(trimmedText)) return Math.round(Number(trimmedText) * S);
    const clock = /^(?:(\d+)\s*d\s*)?(\d+):(\d\d)(?::(\d\d(?:\.\d+)?))?$/.exec(trimmedText);
    if (clock) {
        const [, days, hours, minutes, rest] = clock;
        return Math.round(Number(days ?? 0) * DAY + Number(hours) * HOUR + Number(minutes) * MINUTE + Number(rest ?? 0) * S);
    }
    const units: Record<string, number> = { d: DAY, h: HOUR, m: MINUTE, min: MINUTE, s: S, ms: MS, us: 1, µs: 1 };
    let sum = 0;
    const rest = trimmedText.replace(/(\d+(?:\.\d+)?)\s*(d|h|min|ms|us|µs|m|s)\s*/g, (_, number: string, unit: string) => {
        sum += Number(number) * (units[unit] ?? 0);
        return "";
    });
    return rest === "" ? Math.round(sum) : null;
}
