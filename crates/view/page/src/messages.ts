/** The messages that are shown: those of the selected job, else those of the interval, else none. */

import { effect, signal } from "@preact/signals";

import { api, type Message, type Messages } from "./api";
import { asActor, complain, interval, job, overview, viewId } from "./state";

export const MESSAGES_MOST = 500;

export type Scope = { readonly kind: "job"; readonly job: number } | { readonly kind: "interval"; readonly from: number; readonly until: number } | null;

export const messages = signal<(Messages & { readonly scope: Scope }) | null>(null);
/** One actor that the list is limited to. */
export const messageActor = signal<string | null>(null);
/** The message under the pointer, in the list and on the axis. */
export const pointed = signal<Message | null>(null);

export function scopeNow(): Scope {
    if (job.value !== null) return { kind: "job", job: job.value };
    if (interval.value) return { kind: "interval", from: interval.value.from, until: interval.value.until };
    return null;
}

export function watchMessages(): () => void {
    let asked = 0;
    let timer: ReturnType<typeof setTimeout> | null = null;
    return effect(() => {
        const scope = scopeNow();
        const [id, as, actor] = [viewId.value, asActor.value, messageActor.value];
        const here = overview.value;
        if (timer !== null) clearTimeout(timer);
        if (!here || !scope) return void (messages.value = null);
        asked += 1;
        const mine = asked;
        timer = setTimeout(() => {
            const of = scope.kind === "job" ? { job: scope.job } : { from: scope.from, to: scope.until };
            api.messages(id, { ...of, actor, first: 0, count: MESSAGES_MOST, as })
                .then((found) => {
                    if (mine === asked) messages.value = { ...found, scope };
                })
                .catch((cause: unknown) => {
                    if (mine !== asked) return;
                    messages.value = { total: 0, rows: [], note: cause instanceof Error ? cause.message : null, scope };
                    if (!(cause instanceof Error)) complain(cause);
                });
        }, 80);
    });
}

/** Actors of some messages in the order in which they first occur. */
export function actorsIn(rows: Messages["rows"]): string[] {
    return [...new Set(rows.flatMap((row) => [row.sender, row.receiver]))];
}
