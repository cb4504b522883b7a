"""`tercet lsp` driven by pytest-lsp, with the capabilities of releases of editors: tests of each row of the guide.

`‸` in a text marks the place that a request is about.
"""

import os
import random
import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_lsp
from lsprotocol import types
from pytest_lsp import ClientServerConfig, LanguageClient, client_capabilities

COMMAND = os.environ.get("TERCET") or shutil.which("tercet") or "tercet"
EDITORS = ["visual_studio_code", "neovim", "emacs"]
PORTS = "Ports DEFINITIONS ::= BEGIN\n-- A place for ships.\nPort ::= IA5String (SIZE (1..9))\nPier ::= INTEGER\nEND\n"
SHIPS = """Ships DEFINITIONS AUTOMATIC TAGS ::= BEGIN
IMPORTS Port FROM Ports;
OP ::= CLASS { &code INTEGER UNIQUE, &Arg OPTIONAL } WITH SYNTAX { CODE &code [TAKES &Arg] }
Ship ::= SEQUENCE { name UTF8String, home Port, size Size DEFAULT small, crew INTEGER (0..63) OPTIONAL }
Size ::= ENUMERATED { small, large }
Pair{Item} ::= SEQUENCE { first Item, second Item }
Two ::= Pair{Ship}
END
"""


@pytest_lsp.fixture(params=EDITORS, config=ClientServerConfig(server_command=[COMMAND, "lsp"]))
async def client(request: pytest.FixtureRequest, lsp_client: LanguageClient, tmp_path: Path) -> AsyncIterator[None]:
    (tmp_path / "ports.asn").write_text(PORTS, encoding="utf-8")
    (tmp_path / "ships.asn").write_text(SHIPS, encoding="utf-8")
    lsp_client.folder = tmp_path
    folder = types.WorkspaceFolder(uri=tmp_path.as_uri(), name="fleet")
    capabilities = client_capabilities(request.param)
    answer = await lsp_client.initialize_session(
        types.InitializeParams(capabilities=capabilities, workspace_folders=[folder])
    )
    lsp_client.encoding = answer.capabilities.position_encoding
    yield
    await lsp_client.shutdown_session()


class Text:
    """A text that the client has open, and the place of a mark in it."""

    def __init__(self, client: LanguageClient, name: str, text: str) -> None:
        self.client, self.uri, self.version = client, (client.folder / name).as_uri(), 1
        self.mark = text.find("‸")
        self.text = text.replace("‸", "")
        item = types.TextDocumentItem(uri=self.uri, language_id="asn1", version=1, text=self.text)
        client.text_document_did_open(types.DidOpenTextDocumentParams(text_document=item))

    @property
    def document(self) -> types.TextDocumentIdentifier:
        return types.TextDocumentIdentifier(uri=self.uri)

    def position(self, offset: int) -> types.Position:
        before = self.text[:offset]
        line = before.count("\n")
        last = before[before.rfind("\n") + 1 :]
        code = "utf-8" if self.client.encoding == "utf-8" else "utf-16-le"
        return types.Position(line=line, character=len(last.encode(code)) // (1 if code == "utf-8" else 2))

    def range(self, start: int, end: int) -> types.Range:
        return types.Range(start=self.position(start), end=self.position(end))

    def at(self, name: str) -> dict[str, object]:
        """Parameters of a request about the mark, or about the first place of a piece of the text."""
        offset = self.text.index(name) + len(name) - 1 if name else self.mark
        return {"text_document": self.document, "position": self.position(offset)}

    def edit(self, start: int, end: int, new: str) -> None:
        change = types.TextDocumentContentChangePartial(range=self.range(start, end), text=new)
        self.version += 1
        document = types.VersionedTextDocumentIdentifier(uri=self.uri, version=self.version)
        params = types.DidChangeTextDocumentParams(text_document=document, content_changes=[change])
        self.client.text_document_did_change(params)
        self.text = self.text[:start] + new + self.text[end:]


@pytest.mark.asyncio
async def test_names_lead_to_definitions_and_uses(client: LanguageClient) -> None:
    text = Text(client, "ships.asn", SHIPS)
    home = text.at("home Port")
    found = await client.text_document_definition_async(types.DefinitionParams(**home))
    assert found.uri.endswith("ports.asn") and found.range.start.line == 2
    context = types.ReferenceContext(include_declaration=True)
    found = await client.text_document_references_async(types.ReferenceParams(**home, context=context))
    assert len(found) == 3
    found = await client.text_document_document_highlight_async(types.DocumentHighlightParams(**home))
    assert len(found) == 2
    found = await client.text_document_type_definition_async(types.TypeDefinitionParams(**text.at(", size")))
    assert found.range.start.line == 4
    edit = await client.text_document_rename_async(types.RenameParams(**home, new_name="Harbour"))
    assert sorted(len(edits) for edits in edit.changes.values()) == [1, 2]


@pytest.mark.asyncio
async def test_hovers_and_signatures_say_what_is_meant(client: LanguageClient) -> None:
    text = Text(client, "ships.asn", SHIPS)
    hover = await client.text_document_hover_async(types.HoverParams(**text.at("home Port")))
    for part in ["A place for ships", "SIZE (1..9)", "Bytes:"]:
        assert part in hover.contents.value
    signature = await client.text_document_signature_help_async(types.SignatureHelpParams(**text.at("Pair{Sh")))
    assert signature.signatures[0].label == "Pair{Item}"


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("line", "expected", "others"),
    [
        ("op OP ::= { CODE 5 ‸ }", ["TAKES"], ["Ship"]),
        ('ship Ship ::= { name "Argo", ‸ }', ["crew", "home", "size"], ["name", "Ship"]),
        ("big Size ::= ‸", ["large", "small"], ["Ship"]),
        ("Small ::= Ship (WITH COMPONENTS { ..., ‸ })", ["crew", "home", "name", "size"], ["Ship"]),
        ("Other ::= Pi‸", ["Pier", "Pair"], []),
    ],
)
async def test_completion_knows_the_place(
    client: LanguageClient, line: str, expected: list[str], others: list[str]
) -> None:
    text = Text(client, "ships.asn", SHIPS.replace("END", f"{line}\nEND"))
    found = await client.text_document_completion_async(types.CompletionParams(**text.at("")))
    labels = [item.label for item in found.items]
    assert set(expected) <= set(labels) and not set(others) & set(labels), labels


@pytest.mark.asyncio
async def test_hints_lenses_and_actions(client: LanguageClient) -> None:
    text = Text(client, "ships.asn", SHIPS)
    whole = text.range(0, len(SHIPS))
    hints = await client.text_document_inlay_hint_async(types.InlayHintParams(text_document=text.document, range=whole))
    labels = [hint.label for hint in hints]
    for label in [" [0]", " (1)", " 6 bits", " 2 presence bits"]:
        assert label in labels, labels
    lenses = await client.text_document_code_lens_async(types.CodeLensParams(text_document=text.document))
    assert {lens.command.command for lens in lenses} == {"tercet.sample", "tercet.inspect"}
    sample = next(lens.command for lens in lenses if lens.command.command == "tercet.sample")
    shown = await client.workspace_execute_command_async(
        types.ExecuteCommandParams(command=sample.command, arguments=sample.arguments)
    )
    assert "::= {" in (shown["text"] if isinstance(shown, dict) else shown.text)
    at = SHIPS.index("Ship ::=")
    actions = await client.text_document_code_action_async(
        types.CodeActionParams(
            text_document=text.document, range=text.range(at, at), context=types.CodeActionContext(diagnostics=[])
        )
    )
    assert any(action.title.startswith("add an extension marker") for action in actions)


@pytest.mark.asyncio
async def test_structure_and_colours(client: LanguageClient) -> None:
    text = Text(client, "ships.asn", SHIPS)
    symbols = await client.text_document_document_symbol_async(types.DocumentSymbolParams(text_document=text.document))
    assert [child.name for child in symbols[0].children] == ["OP", "Ship", "Size", "Pair", "Two"]
    found = await client.workspace_symbol_async(types.WorkspaceSymbolParams(query="pie"))
    assert [symbol.name for symbol in found] == ["Pier"]
    whole = await client.text_document_semantic_tokens_full_async(
        types.SemanticTokensParams(text_document=text.document)
    )
    part = await client.text_document_semantic_tokens_range_async(
        types.SemanticTokensRangeParams(text_document=text.document, range=text.range(0, SHIPS.index("\n")))
    )
    assert whole.data[: len(part.data)] == part.data and len(part.data) % 5 == 0
    folds = await client.text_document_folding_range_async(types.FoldingRangeParams(text_document=text.document))
    assert any(fold.start_line == 0 for fold in folds)
    edits = await client.text_document_formatting_async(
        types.DocumentFormattingParams(
            text_document=text.document, options=types.FormattingOptions(tab_size=4, insert_spaces=True)
        )
    )
    assert "\n    home" in edits[0].new_text


LETTERS = ["x", "𝄞", "ü", "\r\n", "\n", "{", "}", ",", "--", " ", "INTEGER", "Port", '"', "(0..", "...", "END"]


@pytest.mark.asyncio
async def test_edits_one_by_one_are_as_the_whole_text(client: LanguageClient) -> None:
    """What comes of random edits is what a text that is opened has: no edit is lost, none stands elsewhere."""
    choose = random.Random(36)
    text = Text(client, "ships.asn", SHIPS)
    for _ in range(150):
        start = choose.randrange(len(text.text) + 1)
        end = min(len(text.text), start + choose.choice([0, 0, 1, 2, 9]))
        # A column inside of CR LF is none.
        inside = any(text.text[at - 1 : at + 1] == "\r\n" for at in (start, end))
        if not inside:
            text.edit(start, end, choose.choice(LETTERS))
    params = types.DocumentSymbolParams(text_document=text.document)
    symbols = await client.text_document_document_symbol_async(params)
    hints = await client.text_document_inlay_hint_async(
        types.InlayHintParams(text_document=text.document, range=text.range(0, len(text.text)))
    )
    tokens = await client.text_document_semantic_tokens_full_async(
        types.SemanticTokensParams(text_document=text.document)
    )
    client.text_document_did_close(types.DidCloseTextDocumentParams(text_document=text.document))
    again = Text(client, "ships.asn", text.text)
    params = types.DocumentSymbolParams(text_document=again.document)
    assert await client.text_document_document_symbol_async(params) == symbols
    assert hints == await client.text_document_inlay_hint_async(
        types.InlayHintParams(text_document=again.document, range=again.range(0, len(again.text)))
    )
    assert tokens == await client.text_document_semantic_tokens_full_async(
        types.SemanticTokensParams(text_document=again.document)
    )


async def unknown_names(client: LanguageClient, text: Text) -> list[types.Range]:
    """Where names are unknown, by the diagnostics that the editor asks for, or else is sent."""
    if client.capabilities.text_document.diagnostic:
        params = types.DocumentDiagnosticParams(text_document=text.document)
        found = (await client.text_document_diagnostic_async(params)).items
    else:
        await client.wait_for_notification(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        found = client.diagnostics[text.uri]
    return [it.range for it in found if it.code == "E0201"]


@pytest.mark.asyncio
async def test_diagnostics_come_and_go(client: LanguageClient) -> None:
    text = Text(client, "ships.asn", "-- 𝄞\n" + SHIPS.replace("home Port", "home /* 𝄞 */ Pier"))
    at = text.text.index("Pier")
    assert await unknown_names(client, text) == [text.range(at, at + 4)]
    text.edit(at, at + 4, "Port")
    assert await unknown_names(client, text) == []
