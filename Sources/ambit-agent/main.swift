// The app under test of scenarios: see docs/reference/adapters.md.
import Agent

Agent.run()
