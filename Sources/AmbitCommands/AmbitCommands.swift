// AmbitCommands
