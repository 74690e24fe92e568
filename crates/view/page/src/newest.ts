/** Questions to the server that follow each other: only the answer to the newest one counts. */

let waiting = 0;

/** Questions of all panes that have no answer yet. */
export const questions = () => waiting;

export interface Question<Answer> {
    readonly load: (signal: AbortSignal) => Promise<Answer>;
    readonly then: (answer: Answer) => void;
    readonly failed: (cause: unknown) => void;
    /** Time until the request, ms: a question that follows within it replaces this one without a request. */
    readonly delay?: number;
}

export class Newest<Answer> {
    private asked: AbortController | null = null;
    private timer: ReturnType<typeof setTimeout> | null = null;

    /** Asks, and ends the question before. */
    ask({ load, then, failed, delay = 0 }: Question<Answer>): void {
        this.forget();
        const mine = new AbortController();
        this.asked = mine;
        waiting += 1;
        const start = () => {
            load(mine.signal)
                .then((answer) => this.asked === mine && then(answer))
                .catch((cause: unknown) => this.asked === mine && failed(cause))
                .finally(() => {
                    if (this.asked === mine) this.end();
                });
        };
        if (delay > 0) this.timer = setTimeout(start, delay);
        else start();
    }

    /** Ends the question that waits, if there is one: its answer will not count. */
    forget(): void {
        const before = this.asked;
        if (!before) return;
        this.end();
        before.abort();
    }

    private end(): void {
        if (this.timer !== null) clearTimeout(this.timer);
        this.timer = null;
        this.asked = null;
        waiting -= 1;
    }
}
