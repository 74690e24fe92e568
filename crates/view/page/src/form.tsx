/** A dialog with a form. It is modal, has a title, and Escape closes it. */

import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";

import { dialog, type Notice } from "./state";

interface Properties {
    readonly title: string;
    readonly children: ComponentChildren;
    /** Words of the button; without it, the dialog has nothing to send. */
    readonly submit?: string;
    readonly onSubmit?: () => void;
    readonly wrong?: Notice | null;
    readonly busy?: boolean;
    readonly wide?: boolean;
}

/** A mistake without a remedy of its own. */
export const mistake = (text: string): Notice => ({ text, help: null });

export function Form({ title, children, submit, onSubmit, wrong, busy, wide }: Properties) {
    const element = useRef<HTMLDialogElement>(null);
    useEffect(() => {
        const before = document.activeElement;
        element.current?.showModal();
        element.current?.querySelector<HTMLElement>(".dialog-body :is(input, select, textarea)")?.focus();
        return () => {
            element.current?.close();
            if (before instanceof HTMLElement) before.focus();
        };
    }, []);
    const close = () => (dialog.value = null);
    return (
        <dialog
            ref={element}
            class={wide ? "wide-dialog" : ""}
            aria-labelledby="dialog-title"
            onCancel={(event) => {
                event.preventDefault();
                close();
            }}
            onClick={(event) => event.target === element.current && close()}
        >
            <form
                method="dialog"
                onSubmit={(event) => {
                    event.preventDefault();
                    onSubmit?.();
                }}
            >
                <header>
                    <h2 id="dialog-title">{title}</h2>
                    <button type="button" class="small" onClick={close} aria-label="Close">
                        ✕
                    </button>
                </header>
                <div class="dialog-body">{children}</div>
                {wrong && (
                    <div class="wrong" role="alert">
                        <p class="bad">{wrong.text}</p>
                        {wrong.help && <p>{wrong.help}</p>}
                    </div>
                )}
                {submit && (
                    <footer>
                        <button type="submit" class="primary" disabled={busy ?? false}>
                            {submit}
                        </button>
                    </footer>
                )}
            </form>
        </dialog>
    );
}
