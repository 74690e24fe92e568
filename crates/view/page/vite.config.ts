// The bundle has fixed names and no dates or paths, so that the same sources give the same bytes.
import { defineConfig } from "vite";

export default defineConfig({
    base: "./",
    build: {
        outDir: "../bundle",
        emptyOutDir: true,
        target: "es2022",
        modulePreload: false,
        assetsInlineLimit: 0,
        cssCodeSplit: false,
        sourcemap: false,
        rollupOptions: {
            output: {
                entryFileNames: "app.js",
                assetFileNames: (asset) => (asset.names.some((name) => name.endsWith(".css")) ? "app.css" : "[name][extname]"),
                codeSplitting: false,
            },
        },
    },
});
