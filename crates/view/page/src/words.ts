/** Numbers and values as text. */

import type { Value } from "./api";
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

export const at = (time: number | null) => (time === null ? "–" : elapsed(time, 1));

/** Any data as short text, for facts of an actor. */
export function inWords(data: unknown): string {
    if (data === null || data === undefined) return "–";
    if (typeof data === "number") return precise(data);
    if (typeof data !== "object") return String(data);
    if (Array.isArray(data)) return data.map(inWords).join(", ");
    return Object.entries(data)
        .map(([name, value]) => `${name.replaceAll("_", " ")} ${inWords(value)}`)
        .join(", ");
}
