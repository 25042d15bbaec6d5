import AmbitCommands

AmbitCommand.launch()
