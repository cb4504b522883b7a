-- Drives the language server as a person does: `scripts/editors test`.
local folder = vim.fn.getcwd()

local function write(name, text)
  local file = assert(io.open(folder .. "/" .. name, "w"))
  file:write(text)
  file:close()
end

write("ports.asn", "Ports DEFINITIONS ::= BEGIN\n-- A place for ships.\nPort ::= IA5String (SIZE (1..9))\nPier ::= INTEGER\nEND\n")
write("ships.asn", "Ships DEFINITIONS AUTOMATIC TAGS ::= BEGIN\nIMPORTS Port, Pier FROM Ports;\n" ..
  "Ship ::= SEQUENCE { name UTF8String, home Port, size ENUMERATED { small, large } }\nFleet ::= SEQUENCE OF Shp\nEND\n")

local function check(label, condition, seen)
  if not condition then
    error(label .. ": " .. vim.inspect(seen), 0)
  end
  print("ok   " .. label .. "\n")
end

local function wait(label, test)
  local seen
  local done = vim.wait(20000, function()
    seen = test()
    return seen and true or false
  end, 50)
  check(label, done, seen)
  return seen
end

vim.filetype.add({ extension = { asn = "asn1", asn1 = "asn1" } })
vim.lsp.enable("tercet")
vim.cmd.edit("ships.asn")
vim.bo.filetype = "asn1"
local buffer = vim.api.nvim_get_current_buf()
local client = wait("the server starts", function()
  return vim.lsp.get_clients({ bufnr = buffer, name = "tercet" })[1]
end)

local found = wait("diagnostics come", function()
  local all = vim.diagnostic.get(buffer)
  return #all > 0 and all
end)
local function with(code)
  return vim.iter(found):find(function(it) return it.code == code or it.message:find(code, 1, true) end)
end
check("an unknown name is a diagnostic with its place", with("E0201") and with("E0201").lnum == 3, found)
check("an import that nothing uses is faded", with("imported and not used") ~= nil, found)

local function ask(method, line, column, more)
  local params = vim.tbl_extend("force", {
    textDocument = vim.lsp.util.make_text_document_params(buffer),
    position = { line = line, character = column },
  }, more or {})
  local answer = client:request_sync(method, params, 20000, buffer)
  check(method .. " is answered", answer and not answer.err, answer)
  return answer.result
end

local hover = ask("textDocument/hover", 2, 44)
check("hover has the comment, the constraint and sizes", hover.contents.value:find("A place for ships", 1, true)
  and hover.contents.value:find("SIZE (1..9)", 1, true) and hover.contents.value:find("Bytes:", 1, true), hover)

vim.api.nvim_win_set_cursor(0, { 3, 44 })
vim.lsp.buf.definition()
wait("definition jumps across files", function()
  return vim.api.nvim_buf_get_name(0):match("ports.asn$") and vim.api.nvim_win_get_cursor(0)[1] == 3
end)
vim.cmd.buffer(buffer)

check("references are in both files", #ask("textDocument/references", 2, 44, { context = { includeDeclaration = true } }) == 3)
check("the outline has the assignments", #ask("textDocument/documentSymbol", 0, 0)[1].children == 2)
check("names are completed", #ask("textDocument/completion", 3, 22).items > 0)
local hints = ask("textDocument/inlayHint", 0, 0, {
  range = { start = { line = 0, character = 0 }, ["end"] = { line = 4, character = 0 } },
})
check("automatic tags are hints", #hints >= 3, hints)
wait("words have colours by their meaning", function()
  local tokens = vim.lsp.semantic_tokens.get_at_pos(buffer, 2, 1)
  return tokens and tokens[1] and tokens[1].type == "type"
end)

vim.api.nvim_win_set_cursor(0, { 3, 1 })
vim.lsp.buf.rename("Vessel")
wait("rename changes the text", function()
  return vim.api.nvim_buf_get_lines(buffer, 2, 3, true)[1]:match("^Vessel ::= ")
end)

local actions = ask("textDocument/codeAction", 0, 0, {
  range = { start = { line = 3, character = 22 }, ["end"] = { line = 3, character = 22 } },
  context = { diagnostics = {} },
})
check("actions sort imports", vim.iter(actions):find(function(it) return it.kind == "source.organizeImports" end), actions)

vim.api.nvim_buf_set_lines(buffer, 3, 4, true, { "Fleet::=SEQUENCE OF Vessel" })
vim.lsp.buf.format({ bufnr = buffer, timeout_ms = 20000 })
check("formatting lays the text out", vim.iter(vim.api.nvim_buf_get_lines(buffer, 0, -1, true)):find(function(line)
  return line == "Fleet ::= SEQUENCE OF Vessel"
end), vim.api.nvim_buf_get_lines(buffer, 0, -1, true))
wait("fixed faults go", function()
  return vim.iter(vim.diagnostic.get(buffer)):find(function(it) return it.severity == 1 end) == nil
end)

client:stop()
wait("the server ends", function() return client:is_stopped() end)
print("all good\n")
