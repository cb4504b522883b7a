"""The report: a pure function of the records, as Markdown, as a page of HTML, and as pictures."""
