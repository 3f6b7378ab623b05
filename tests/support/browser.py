"""What tests of several pages do in a browser, and look for there."""

import re
from collections.abc import Mapping

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from rnnviz.ui.shell.address import unpack_text

# A landmark's second name is looked for by nobody, and the uploader's part is Streamlit's own.
BEARABLE = {"landmark-unique", "presentation-role-conflict"}

# What has an accessible name that doesn't begin with the words seen on it: who says them to the computer is
# not understood.
MISNAMED = """() => {
    const found = [];
    const words = (text) => text.normalize("NFKC").toLowerCase().match(/[\\p{L}\\p{N}]+/gu)?.join(" ") ?? "";
    const walk = (root) => {
        for (const element of root.querySelectorAll("*")) {
            if (element.shadowRoot) walk(element.shadowRoot);
            const name = element.getAttribute("aria-label");
            const pressed = element.matches("button, a, summary, [role=button], [role=tab]");
            let seen = pressed ? element.innerText : "";
            for (const icon of element.querySelectorAll("[data-testid=stIconMaterial]"))  // a picture
                seen = seen.replace(`${icon.innerText} icon`, "").replace(icon.innerText, "");
            if (name && seen && element.checkVisibility() && !words(name).startsWith(words(seen)))
                found.push(`${element.className} is called ${name}: ${seen}`);
        }
    };
    walk(document);
    return found;
}"""

SETTLED = "() => document.getAnimations().every((one) => one.playState !== 'running')"


def settle(page: Page) -> None:
    """Wait until nothing is being computed, drawn or faded."""
    expect(page.locator("[data-testid=stApp][data-test-script-state=notRunning]")).to_be_visible()
    page.wait_for_load_state("networkidle")
    expect(page.locator("[data-stale=true]")).to_have_count(0)
    page.wait_for_function(SETTLED)


def inaccessible(page: Page, *rules: str) -> list[str]:
    """A line for each thing that axe finds wrong, by these rules or by all, with where it is. Of WCAG 2.2 it
    looks at targets only when told to.
    """
    rules_on = {name: {"enabled": True} for name in ("target-size", "label-content-name-mismatch")}
    options = {"resultTypes": ["violations"], "rules": rules_on}
    if rules:
        options["runOnly"] = list(rules)
    axe = Axe("") if page.evaluate("Boolean(window.axe)") else Axe()  # the script is there from the last time
    violations = axe.run(page, options=options).response["violations"]
    return page.evaluate(MISNAMED) + [
        f"{violation['impact']} {violation['id']}: {node['target'][-1]} {node['html'][:120]} "
        f"{node['failureSummary']}"
        for violation in violations
        if violation["id"] not in BEARABLE
        for node in violation["nodes"]
    ]


MODEL_FIELD = "[data-testid=stSidebar] [data-testid=stSelectbox] input"


def holds(page: Page, values: Mapping[str, str | None]) -> None:
    """Wait until the address holds these; None: not at all."""
    page.wait_for_function(
        """(wanted) => {
            const here = new URLSearchParams(location.search);
            return wanted.every(([name, value]) => here.get(name) === value);
        }""",
        arg=list(map(list, values.items())),  # `wait_for_function` leaves out what is None in a dict
    )


def holds_text(page: Page, text: str) -> None:
    """Wait until the address holds a text, packed by the browser."""
    packed = page.evaluate(
        """async (text) => {
            const squeezed = new Blob([text]).stream().pipeThrough(new CompressionStream('deflate'));
            const bytes = new Uint8Array(await new Response(squeezed).arrayBuffer());
            const letters = btoa(String.fromCharCode(...bytes));
            return letters.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
        }""",
        text,
    )
    assert unpack_text(packed) == text
    holds(page, {"text": packed})


def choose_model(page: Page, model: str) -> None:
    """Choose a model in the sidebar."""
    page.get_by_test_id("stSidebar").get_by_role("combobox").click()
    page.get_by_role("option", name=model).click()


STOPS = 80  # of the Tab key: more than any page has before what is looked for

# The name, classes and element that has the focus, and whether it looks otherwise than without, in a view of
# ours by a ring of two pixels. A table draws its focus some frames after it has it: it is looked for again, a
# second in all.
FOCUSED = """async () => {
    let at = document.activeElement;
    while (at?.shadowRoot?.activeElement) at = at.shadowRoot.activeElement;
    if (!at || at === document.body) return ["", "", "", true];
    const drawn = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    const name = at.getAttribute("aria-label") || at.innerText || at.labels?.[0]?.innerText || "";
    const around = [at, ...at.children];
    for (let e = at.parentElement, n = 0; e && n < 5; e = e.parentElement, n++) around.push(e);
    const look = () => {
        for (const one of document.getAnimations())
            if (one.effect?.getComputedTiming().endTime !== Infinity) one.finish(); // a spinner never ends
        return around.map((e) => {
            const { outline, boxShadow, borderColor, backgroundColor, stroke } = getComputedStyle(e);
            return [outline, boxShadow, borderColor, backgroundColor, stroke].join();
        }).join() + (at.closest("canvas")?.toDataURL() ?? ""); // a table draws its focus
    };
    let shows = false;
    for (let tries = 0; !shows && tries < 15; tries++) {
        if (tries) await drawn();
        const focused = look();
        at.blur();
        shows = look() !== focused;
        if (!shows) {
            await drawn();
            shows = look() !== focused;
        }
        at.focus({ preventScroll: true });
    }
    const { outlineStyle, outlineWidth } = getComputedStyle(at);
    if (at.getRootNode().host) shows &&= outlineStyle === "solid" && parseFloat(outlineWidth) >= 2;
    return [name.trim(), String(at.className?.baseVal ?? at.className), at.outerHTML.slice(0, 120), shows];
}"""


def tab_to(page: Page, name: str = "", *, css: str = "", key: str = "Tab") -> None:
    """Press Tab until what has this name, or class, has the focus; every stop shows that it has it."""
    for _ in range(STOPS):
        violations, classes, markup, shows = page.evaluate(FOCUSED)
        assert shows, markup
        if (name and re.search(name, violations)) or (css and css in classes.split()):
            return
        page.keyboard.press(key)
    raise AssertionError(f"the Tab key doesn't come to {name or css}")


def upload(page: Page, files: dict[str, bytes]) -> None:
    page.locator("input[type=file]").set_input_files(
        [{"name": name, "mimeType": "text/plain", "buffer": data} for name, data in files.items()]
    )


def score_file(page: Page, name: str, data: bytes) -> None:
    """Upload a file, and wait for its figures."""
    upload(page, {name: data})
    expect(page.get_by_text(f"Perplexity of {name}")).to_be_visible()


def open_perplexity(page: Page, url: str, model: str = "tiny-gru", **query: str) -> None:
    address = "&".join(f"{k}={v}" for k, v in {"model": model, **query}.items())
    page.goto(f"{url}/perplexity?{address}")
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    # A file that is given to an uploader which is then made anew would be lost.
    expect(page.locator("[data-testid=stApp][data-test-script-state=notRunning]")).to_be_visible()
