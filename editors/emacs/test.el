;;; test.el --- drives the language server by eglot -*- lexical-binding: t -*-

;; `scripts/editors emacs` runs it after tercet.el, in a new folder.

;;; Code:

(require 'cl-lib)
(require 'eglot)
(require 'flymake)
(require 'xref)

(setq make-backup-files nil
      create-lockfiles nil
      eglot-confirm-server-initiated-edits nil
      eglot-sync-connect 30)

(defun check (label condition &optional seen)
  "Say LABEL if CONDITION holds, else end with what was SEEN."
  (unless condition
    (message "failed: %s: %S" label seen)
    (kill-emacs 1))
  (message "ok   %s" label))

(defun await (label test)
  "Wait until TEST gives something, and check it as LABEL."
  (let ((end (+ (float-time) 30)) seen)
    (while (and (not (setq seen (funcall test))) (< (float-time) end))
      (accept-process-output nil 0.05))
    (check label seen)
    seen))

(defun here (text)
  "Go in front of the last letter of the first TEXT."
  (goto-char (point-min))
  (search-forward text)
  (backward-char 1))

(with-temp-file "ports.asn"
  (insert "Ports DEFINITIONS ::= BEGIN\n-- A place for ships.\nPort ::= IA5String (SIZE (1..9))\nPier ::= INTEGER\nEND\n"))
(with-temp-file "ships.asn"
  (insert "Ships DEFINITIONS AUTOMATIC TAGS ::= BEGIN\nIMPORTS Port FROM Ports;\n"
          "Ship ::= SEQUENCE { name UTF8String, home Port }\nFleet ::= SEQUENCE OF Shp\nEND\n"))

;; The folder is the project: without version control none would be found.
(let ((folder (expand-file-name default-directory)))
  (add-hook 'project-find-functions (lambda (_) (cons 'transient folder))))

(find-file "ships.asn")
(check "the mode is found by the name of the file" (eq major-mode 'asn1-mode) major-mode)
(unless (eglot-current-server)
  (apply #'eglot (append (eglot--guess-contact) nil)))
(await "the server starts" #'eglot-current-server)
(unless flymake-mode (flymake-mode 1))
(flymake-start)
(let ((found (await "diagnostics come" #'flymake-diagnostics)))
  (check "an unknown name is one of them"
         (cl-some (lambda (it) (string-match-p "Shp" (flymake-diagnostic-text it))) found)
         (mapcar #'flymake-diagnostic-text found)))

(here "home Port")
(let* ((hover (jsonrpc-request (eglot-current-server) :textDocument/hover (eglot--TextDocumentPositionParams)))
       (text (plist-get (plist-get hover :contents) :value)))
  (check "hover has the comment and the constraint"
         (and (string-match-p "A place for ships" text) (string-match-p "SIZE (1..9)" text)) text))

(let ((found (xref-backend-definitions 'eglot (xref-backend-identifier-at-point 'eglot))))
  (check "the definition is in the other file"
         (and (= (length found) 1)
              (string-match-p "ports.asn" (xref-location-group (xref-item-location (car found)))))
         found))
(here "home Port")
(check "references are in both files"
       (= (length (xref-backend-references 'eglot (xref-backend-identifier-at-point 'eglot))) 3))

(here "Ship ::")
(goto-char (match-beginning 0))
(eglot-rename "Vessel")
(check "rename changes the text" (save-excursion (goto-char (point-min)) (search-forward "Vessel ::= SEQUENCE" nil t))
       (buffer-string))

(goto-char (point-min))
(search-forward "OF Shp")
(replace-match "OF Vessel" t t)
(goto-char (point-min))
(search-forward "Fleet ::= ")
(replace-match "Fleet::=" t t)
(eglot-format-buffer)
(check "formatting lays the text out"
       (save-excursion (goto-char (point-min)) (search-forward "Fleet ::= SEQUENCE OF Vessel" nil t))
       (buffer-string))
(await "fixed faults go"
       (lambda ()
         (flymake-start)
         (not (cl-some (lambda (it) (string-match-p "Shp" (flymake-diagnostic-text it))) (flymake-diagnostics)))))

(eglot-shutdown (eglot-current-server) nil 10)
(message "all good")
(set-buffer-modified-p nil)
(kill-emacs 0)
;;; test.el ends here
