import AmbitCommands
import ArgumentParser

AmbitCommand.main()
