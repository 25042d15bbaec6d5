Window(editor: Editor()).run()
