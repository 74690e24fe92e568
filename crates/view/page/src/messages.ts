/** The messages that are shown: those of the selected job, else those of the interval, else none. */

import { effect, signal } from "@preact/signals";

import { api, type Message, type Messages } from "./api";
import { Newest } from "./newest";
import { asActor, interval, job, overview, viewId } from "./state";

export const MESSAGES_MOST = 500;

export type Scope = { readonly kind: "job"; readonly job: number } | { readonly kind: "interval"; readonly from: number; readonly until: number } | null;

/** The messages that are listed; `first` is the place of the first one. */
export const messages = signal<(Messages & { readonly scope: Scope; readonly first: number }) | null>(null);
/** The place from which messages are asked for, in the list of a scope. */
const page = signal({ of: "", first: 0 });
/** One actor that the list is limited to. */
export const messageActor = signal<string | null>(null);
/** The message under the pointer, in the list and on the axis. */
export const pointed = signal<Message | null>(null);

export function scopeNow(): Scope {
    if (job.value !== null) return { kind: "job", job: job.value };
    if (interval.value) return { kind: "interval", from: interval.value.from, until: interval.value.until };
    return null;
}

const listOf = () => JSON.stringify([scopeNow(), viewId.value, messageActor.value, asActor.value]);

/** Lists the messages from another place on. */
export const listFrom = (first: number) => void (page.value = { of: listOf(), first });

export function watchMessages(): () => void {
    const newest = new Newest<Messages>();
    return effect(() => {
        const scope = scopeNow();
        const [id, actor] = [viewId.value, messageActor.value];
        void asActor.value;
        if (!overview.value || !scope) {
            newest.forget();
            messages.value = null;
            return;
        }
        // Another list begins with its first message.
        const first = page.value.of === listOf() ? page.value.first : 0;
        const of = scope.kind === "job" ? { job: scope.job } : { from: scope.from, to: scope.until };
        newest.ask({
            load: (signal) => api.messages(id, { ...of, actor, first, count: MESSAGES_MOST }, signal),
            then: (found) => (messages.value = { ...found, scope, first }),
            failed: (cause) => {
                messages.value = { total: 0, rows: [], note: cause instanceof Error ? cause.message : String(cause), scope, first };
            },
            delay: 80,
        });
    });
}

/** Actors of some messages in the order in which they first occur. */
export function actorsIn(rows: Messages["rows"]): string[] {
    return [...new Set(rows.flatMap((row) => [row.sender, row.receiver]))];
}
