"""The texts a reader chose: uploaded files, a pasted text, a corpus."""

import hashlib
from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any

import streamlit as st

from rnnviz.errors import RnnvizError
from rnnviz.i18n import _
from rnnviz.text import corpora
from rnnviz.text.files import LONGEST_NAME, printable
from rnnviz.ui import choice, examples, pasting
from rnnviz.ui.hosting import allowed
from rnnviz.ui.jobs import progress
from rnnviz.ui.jobs.store import Key
from rnnviz.ui.jobs.worker import OVER, Jobs
from rnnviz.ui.pages.perplexity import encodings, sources, uploads, work
from rnnviz.ui.pages.perplexity.text import Text
from rnnviz.ui.trouble import describe

STOPPED = "perplexity.stopped"  # the characters after which the reader stopped, by a text's identity


def chosen(jobs: Jobs) -> tuple[list[Text], list[Text]]:
    """The texts to score, and all that are there: uploaded files, the pasted text, the corpus."""
    upload, paste, corpus = sources.tabs()
    with upload:
        files = uploads.files()
    with paste, st.form("paste", border=False):
        pasted = pasting.field("pasted", height=140, placeholder=_("Paste or type a text here."))
        st.form_submit_button(_("Score this text"), type="primary")
        if pasted and not allowed.to_read(len(pasted.encode("utf-8", "surrogatepass"))):
            st.warning(
                _("A visitor's text has at most {size} MB.").format(size=allowed.megabytes()),
                icon=":material/block:",
            )
            pasted = ""
    with corpus:
        picked = from_corpus(jobs)
    there = {
        "files": [uploaded(file) for file in files],
        "paste": [given(_("pasted text"), pasted)] if pasted else [],
        "corpus": picked,
    }
    cut = st.session_state.get(STOPPED, {})
    for name, found in there.items():
        there[name] = [replace(text, most=cut.get(text.identity)) for text in found]
    return distinct(sources.scored(there)), distinct(chain.from_iterable(there.values()))


def distinct(texts: Iterable[Text]) -> list[Text]:
    """The texts without duplicates, with unique names: a name stands for its text in tables and choices."""
    found: dict[str, Text] = {}
    for text in texts:
        name, number = text.name, 1
        while name in found and found[name].identity != text.identity:
            number += 1
            name = f"{text.name} ({number})"
        found.setdefault(name, replace(text, name=name))
    return list(found.values())


def uploaded(file: Any) -> Text:
    """An uploaded file, whose checksum is computed once, not at every click."""
    digests: dict[str, str] = st.session_state.setdefault("perplexity.digests", {})
    data = file.getvalue()
    if file.file_id not in digests:
        digests[file.file_id] = hashlib.sha256(data).hexdigest()
    content = digests[file.file_id]
    return Text(printable(file.name, LONGEST_NAME), content, data=data, encoding=encodings.override(content))


def given(name: str, text: str, *, example: bool = False) -> Text:
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return Text(name, digest, text=text, example=example)


def example(card: Any) -> Text:
    """An example that suits the model, before anyone chose a text."""
    return given(_("an example"), examples.example(card), example=True)


def from_corpus(jobs: Jobs) -> list[Text]:
    """The chosen corpus, or the part of it that a model trained on it has never read."""
    which, how = st.columns([3, 2], vertical_alignment="bottom")
    about = {name: corpora.describe(name) for name in corpora.names()}
    choice.adopt("corpus", list(about))
    name = which.selectbox(
        _("Corpus"),
        list(about),
        index=None,
        key="corpus",
        persist_state="session",
        placeholder=_("Choose a corpus"),
        format_func=lambda n: f"{about[n].title} · {about[n].bytes / 1e6:.1f} MB",
    )
    words = {"held out": _("The last 10 % (held out)"), "all": _("The whole corpus")}
    with how:
        part = choice.pick(
            _("Part"),
            words,
            "corpus-part",
            default="held out",
            required=True,
            help=_("The shipped models trained on this corpus have not read its last tenth."),
        )
    if name is None:
        return []
    if about[name].needs_download and not fetched(jobs, about[name]):
        return []
    try:
        content, text = read(name, part)
    except RnnvizError as error:
        st.error(describe(error), icon=":material/error:")
        return []
    return [Text(about[name].title, content, text=text)]


@st.cache_resource(max_entries=4, show_spinner=False)
def read(name: str, part: str) -> tuple[str, str]:
    """The checksum and the text of a part of a corpus; all of it if too short to split."""
    corpus = corpora.read(name)
    text = corpus.text if part == "all" else corpus.split().held_out or corpus.text
    return hashlib.sha256(text.encode("utf-8")).hexdigest(), text


def download(name: str | None) -> Key:
    """The key of a corpus's download."""
    return Key("fetch", rest=name)


def fetched(jobs: Jobs, info: corpora.CorpusInfo) -> bool:
    """Whether a corpus was just downloaded; until then, shows the button for it."""
    if not allowed.to_fetch():
        st.info(_("This text is not on this machine yet. The lecturer can download it."))
        return False
    key = download(info.name)
    job = jobs.get(key)
    if job is not None and job.state == "done":
        return True
    if job is not None and job.state == "failed" and job.error is not None:
        st.error(describe(job.error), icon=":material/cloud_off:")
    if job is None or job.state in ("failed", "cancelled", "left"):
        label = _("Download it ({size} MB)").format(size=f"{info.bytes / 1e6:.1f}")
        if st.button(label, icon=":material/download:", key="fetch"):
            jobs.ask(key, info.title, partial(work.fetching, info.name), again=OVER, kind="download")
            st.rerun()
        st.caption(_("From {source}. It is kept on this machine.").format(source=info.source))
        return False
    progress.bar(jobs, [key], "fetch")
    return False
