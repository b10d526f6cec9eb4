"""Hooks of mkdocs.yml. They change how pages are shown, never what they say."""

import logging
import posixpath
import re
from fnmatch import fnmatchcase
from pathlib import Path

from markdown.extensions import Extension
from markdown.treeprocessors import Treeprocessor
from mkdocs.structure.files import File

ROOT = Path(__file__).resolve().parents[2]
DOCS = "docs"
HOME = "index.md"
REPOSITORY = "https://github.com/pgstorage/pgstorage"

# Strict mode fails on warnings of this logger.
log = logging.getLogger("mkdocs.plugins.site")

FENCE = re.compile(r"^\s*(```|~~~)")
ITEM = re.compile(r"^\s*([-*+]|\d+\.) ")
OWN_PATH = re.compile(r'((?:src|srcset|href)=")' + DOCS + "/")


def names(nav):
    """Yields every page that nav names."""
    for item in nav:
        entry = next(iter(item.values())) if isinstance(item, dict) else item
        yield from names(entry) if isinstance(entry, list) else [entry]


def expand(nav, pages):
    """Replaces patterns by the pages that they match, and removes empty sections."""
    out = []
    for item in nav:
        if isinstance(item, str) and "*" in item:
            found = [p for p in pages if fnmatchcase(p, item) and p.count("/") == item.count("/")]
            pages -= set(found)
            out += sorted(found)
        elif isinstance(item, dict) and isinstance(next(iter(item.values())), list):
            (title, section), = item.items()
            out.append({title: expand(section, pages)})
        else:
            out.append(item)
    return out


def on_config(config):
    docs = Path(config.docs_dir)
    pages = {p.relative_to(docs).as_posix() for p in docs.rglob("*.md")} - set(names(config.nav))
    config.nav = expand(config.nav, pages)
    config.markdown_extensions.append(Links())
    return config


def on_files(files, config):
    """Makes README.md the first page, and adds the style sheet."""
    files.append(File.generated(config, HOME, abs_src_path=str(ROOT / "README.md")))
    files.append(File.generated(config, "site.css", abs_src_path=str(ROOT / "hack/site/site.css")))
    return files


def on_page_markdown(markdown, page, config, files):
    Links.page = page.file.src_uri
    return like_github(markdown)


def on_page_content(html, page, config, files):
    """Paths of HTML in README.md begin at the root of the repository."""
    return OWN_PATH.sub(r"\1", html) if page.file.src_uri == HOME else html


def like_github(markdown):
    """Python-Markdown needs an empty line before a list, and a mark on HTML around Markdown."""
    out, fenced, before = [], False, ""
    for line in markdown.split("\n"):
        if FENCE.match(line):
            fenced = not fenced
        elif not fenced:
            # A line of a paragraph, and not of an item.
            if ITEM.match(line) and before.strip() and not ITEM.match(before) and not before.startswith((" ", "|")):
                out.append("")
            if line.startswith("<details>"):
                line = line.replace("<details>", '<details markdown="1">', 1)
        out.append(line)
        before = line
    return "\n".join(out)


class Links(Extension):
    """Points links within the repository to pages of the site, or to the repository."""

    page = HOME

    def extendMarkdown(self, md):
        # After inline patterns (20), before MkDocs resolves links (0).
        md.treeprocessors.register(Rewrite(md), "repository", 5)


class Rewrite(Treeprocessor):
    def run(self, root):
        for element in root.iter():
            for attribute in ("href", "src"):
                link = element.get(attribute)
                if link and not re.match(r"[a-z]+:|#|/", link):
                    element.set(attribute, target(Links.page, link))


def target(page, link):
    """Returns a link of a page as the site needs it. page is relative to docs/."""
    source = "README.md" if page == HOME else posixpath.join(DOCS, page)
    path, hash_, fragment = link.partition("#")
    path = posixpath.normpath(posixpath.join(posixpath.dirname(source), path))
    found = ROOT / path
    if not found.exists():
        log.warning("%s links %s, which does not exist", source, link)
    if path == "README.md" or path == DOCS + "/README.md":
        inside = HOME
    elif path.startswith(DOCS + "/") and found.is_dir() and (found / "README.md").exists():
        inside = posixpath.join(posixpath.relpath(path, DOCS), "README.md")
    elif path.startswith(DOCS + "/") and found.is_file() and found.suffix != ".go":
        inside = posixpath.relpath(path, DOCS)
    else:
        return f"{REPOSITORY}/{'tree' if found.is_dir() else 'blob'}/main/{path}{hash_}{fragment}"
    return posixpath.relpath(inside, posixpath.dirname(page) or ".") + hash_ + fragment
