/**
 * Arithmetic of the time axis. Times are whole microseconds, which a double holds exactly for 285 years.
 * A window begins at a whole microsecond plus a part of one, so that neither ten years nor one microsecond
 * on the screen lose precision: differences are taken between whole numbers first.
 */

export interface TimeWindow {
    /** Whole microseconds. */
    readonly origin: number;
    /** From `origin` to the left edge, 0 to 1 µs. */
    readonly offset: number;
    /** Length, µs. */
    readonly span: number;
}

export interface Bounds {
    readonly from: number;
    readonly until: number;
}

/** The shortest window: one microsecond. */
export const SPAN_LEAST = 1;
/** The longest window beyond the data: ten years. */
const TEN_YEARS = 10 * 365.25 * 86_400e6;

export function timeWindow(origin: number, offset: number, span: number): TimeWindow {
    const whole = Math.floor(origin);
    const rest = origin - whole + offset;
    const carry = Math.floor(rest);
    return { origin: whole + carry, offset: rest - carry, span };
}

/** All of the data with a margin at both sides. */
export function fitted({ from, until }: Bounds): TimeWindow {
    const length = Math.max(until - from, SPAN_LEAST);
    const margin = length * 0.02;
    return timeWindow(from, -margin, length + 2 * margin);
}

/** Position of a time: 0 = left edge, 1 = right edge. */
export function position(window: TimeWindow, time: number): number {
    return (time - window.origin - window.offset) / window.span;
}

/** The time at a position in whole microseconds. */
export function timeAt(window: TimeWindow, share: number): number {
    return window.origin + Math.round(window.offset + share * window.span);
}

/** Zooms about a position; a factor below 1 shows less time. */
export function zoomed(window: TimeWindow, factor: number, share: number, bounds: Bounds): TimeWindow {
    const most = Math.max(TEN_YEARS, 2 * (bounds.until - bounds.from));
    const span = Math.min(Math.max(window.span * factor, SPAN_LEAST), most);
    return kept(timeWindow(window.origin, window.offset + share * (window.span - span), span), bounds);
}

/** Moves by a part of the window's length. */
export function moved(window: TimeWindow, share: number, bounds: Bounds): TimeWindow {
    return kept(timeWindow(window.origin, window.offset + share * window.span, window.span), bounds);
}

/** The same length of time about another centre. */
export function centred(window: TimeWindow, time: number): TimeWindow {
    return timeWindow(time, -window.span / 2, window.span);
}

/** Shows an interval with a margin. */
export function around(from: number, until: number, margin = 0.15): TimeWindow {
    const span = Math.max((until - from) * (1 + 2 * margin), SPAN_LEAST * 10);
    return timeWindow(from, -(span - (until - from)) / 2, span);
}

/** A window whose middle lies within the data, so that the data cannot be lost. */
function kept(window: TimeWindow, { from, until }: Bounds): TimeWindow {
    const middle = position(window, from) - 0.5;
    if (middle > 0) return timeWindow(from, -window.span / 2, window.span);
    if (position(window, until) < 0.5) return timeWindow(until, -window.span / 2, window.span);
    return window;
}

/** The interval of a window in whole microseconds, at least one long. */
export function interval(window: TimeWindow): Bounds {
    const from = timeAt(window, 0);
    return { from, until: Math.max(timeAt(window, 1), from + 1) };
}
