/** Numbers and values as text. */

import type { Overview, Value } from "./api";
import { duration, elapsed } from "./ticks";

export function compact(number: number): string {
    return number.toLocaleString("en", { maximumFractionDigits: 2 });
}

export function percent(share: number): string {
    return `${(100 * share).toFixed(1)} %`;
}

/** A value of a table. */
export function valueInWords(value: Value | undefined): string {
    if (value === null || value === undefined) return "–";
    if (typeof value !== "number") return String(value);
    return precise(value);
}

function precise(value: number): string {
    if (Number.isInteger(value)) return String(value);
    return String(Number(value.toPrecision(8)));
}

/** Seconds of a table as a span, for titles of cells. */
export function spanOfSeconds(value: Value | undefined, unit: string | null): string {
    return typeof value === "number" && unit === "s" ? duration(value * 1e6) : "";
}

/** A time without digits that are all zero. */
export function at(time: number | null): string {
    if (time === null) return "–";
    return elapsed(time, [1_000_000, 1_000].find((step) => time % step === 0) ?? 1);
}

/** A time from a tile, whose shares have 24 bits: digits beyond them are noise. */
export function atPixel(time: number, pixel: number): string {
    const unit = pixel < 8e3 ? 1 : pixel < 8e6 ? 1_000 : 1_000_000;
    return elapsed(Math.round(time / unit) * unit, Math.min(pixel, unit));
}

/** The time over which the utilisation of a chart is taken; that of a metric may leave out a warm-up. */
export function timeOfUse(of: Overview | null): string {
    return of?.now == null ? "in the whole run" : "so far";
}

/** A number with its noun, such as `1 message` and `2,500 messages`. */
export function counted(number: number, one: string, many = `${one}s`): string {
    return `${compact(number)} ${number === 1 ? one : many}`;
}
