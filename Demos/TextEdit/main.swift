// In a global, and so for as long as the program runs: a picker holds its delegate weakly.
let window = Window(editor: Editor())
window.run()
