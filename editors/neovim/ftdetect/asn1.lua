vim.filetype.add({ extension = { asn = "asn1", asn1 = "asn1" } })
