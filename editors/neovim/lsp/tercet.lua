-- The language server for ASN.1, for `vim.lsp.enable("tercet")` in Neovim 0.11 and later.
return {
  cmd = { "tercet", "lsp" },
  filetypes = { "asn1" },
  root_markers = { "tercet.toml", ".git" },
}
