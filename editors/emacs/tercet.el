;;; tercet.el --- ASN.1 with the language server of Tercet -*- lexical-binding: t -*-

;; For Emacs 29 and later: (load "tercet.el"), and `tercet' on PATH.

;;; Code:

(require 'eglot)

(define-derived-mode asn1-mode prog-mode "ASN.1"
  "Major mode for specifications in ASN.1."
  (setq-local comment-start "-- ")
  (setq-local comment-start-skip "--+[ \t]*")
  (setq-local indent-tabs-mode nil)
  (modify-syntax-entry ?- "_ 12" (syntax-table))
  (modify-syntax-entry ?\n ">" (syntax-table))
  (modify-syntax-entry ?_ "_" (syntax-table)))

(add-to-list 'auto-mode-alist '("\\.asn1?\\'" . asn1-mode))
(add-to-list 'eglot-server-programs '(asn1-mode . ("tercet" "lsp")))
(add-hook 'asn1-mode-hook #'eglot-ensure)

(provide 'tercet)
;;; tercet.el ends here
