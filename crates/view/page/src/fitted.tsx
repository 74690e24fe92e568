/** Tables that fit their tab: columns while all of them have room, else each row is a block of names and values. */

import type { ComponentChildren, RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";

/** A box that has the class `stacked` while its contents have no room side by side. */
export function useFit(): RefObject<HTMLDivElement | null> {
    const box = useRef<HTMLDivElement>(null);
    const measure = () => {
        const element = box.current;
        if (!element) return;
        element.classList.remove("stacked");
        element.classList.toggle("stacked", element.scrollWidth > element.clientWidth);
    };
    // After each change of the contents.
    useLayoutEffect(measure);
    useEffect(() => {
        const element = box.current;
        if (!element) return;
        let picture = 0;
        // In the next picture: the observer must not change what it observes.
        const observer = new ResizeObserver(() => {
            cancelAnimationFrame(picture);
            picture = requestAnimationFrame(measure);
        });
        observer.observe(element);
        return () => {
            cancelAnimationFrame(picture);
            observer.disconnect();
        };
    }, []);
    return box;
}

export interface FittedColumn {
    readonly name: string;
    readonly numeric?: boolean;
}

export interface FittedRow {
    readonly cells: readonly ComponentChildren[];
    readonly onClick?: () => void;
}

interface Properties {
    readonly label: string;
    readonly columns: readonly FittedColumn[];
    readonly rows: readonly FittedRow[];
    /** True if the first cell names its row. */
    readonly named?: boolean;
}

export function Fitted({ label, columns, rows, named }: Properties) {
    const box = useFit();
    const look = (at: number) => (columns[at]?.numeric ? "number" : "");
    return (
        <div class="wide" ref={box} tabIndex={0} role="region" aria-label={label}>
            <table role="table">
                <thead role="rowgroup">
                    <tr role="row">
                        {columns.map(({ name }, at) =>
                            name === "" ? (
                                <td role="cell" />
                            ) : (
                                <th role="columnheader" scope="col" class={look(at)}>
                                    {name}
                                </th>
                            ),
                        )}
                    </tr>
                </thead>
                <tbody role="rowgroup">
                    {rows.map(({ cells, onClick }) => (
                        <tr role="row" onClick={onClick}>
                            {cells.map((cell, at) =>
                                named && at === 0 ? (
                                    <th role="rowheader" scope="row">
                                        {cell}
                                    </th>
                                ) : (
                                    <td role="cell" class={look(at)} data-name={columns[at]?.name ?? ""}>
                                        {cell}
                                    </td>
                                ),
                            )}
                        </tr>
                    ))}
                </tbody>
            </table>
        </div>
    );
}
