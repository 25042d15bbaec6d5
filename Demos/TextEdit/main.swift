var editor = Editor()
editor.run()
