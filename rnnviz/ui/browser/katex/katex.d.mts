// What we use of KaTeX (https://katex.org), whose files these are, unchanged: see package.json for the version.

export interface Options {
  displayMode?: boolean;
  throwOnError?: boolean;
  output?: "html" | "mathml" | "htmlAndMathml";
  strict?: (code: string) => "ignore" | "warn" | "error";
  trust?: (context: { command: string }) => boolean;
}

declare const katex: {
  version: string;
  render(tex: string, element: HTMLElement, options?: Options): void;
  renderToString(tex: string, options?: Options): string;
};
export default katex;
