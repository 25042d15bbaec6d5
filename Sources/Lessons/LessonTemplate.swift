/// The lesson that `ambit lesson new` writes.
package enum LessonTemplate {
  package static let text = ##"""
    # A lesson. `ambit lesson check FILE` proves it; docs/how-to/write-a-lesson.md explains it.
    title = "My first lesson"
    about = "One sentence for the list of lessons."
    minutes = 3
    closing = "The last paragraph: say in two sentences what was learned."

    # Before the lesson, on the host: a user with a letter. ${home} is a scratch folder, never your own home.
    set_up = [{ write = "${home}/Letter.txt", content = "Dear Ada\n" }]

    [[step]]
    say = """
    A paragraph that explains one thing. ${home}/Letter.txt is a path on the host.

    An empty line begins the next paragraph."""
    task = "What the learner shall do: cat ${home}/Letter.txt"
    # The task is done when the audit log has these events. `ambit audit log --format json` shows the fields.
    done = [{ kind = "refuse" }]
    praise = "Said when it is done."
    hint = "Said when the learner asks for a hint."
    # Lines for the shell that do the task.
    solution = ["cat ${home}/Letter.txt"]

    # Something that learners try instead: lines that show it, how it is recognised, and the hint that fits it.
    [[step.wrong]]
    try = ["cat Letter.txt"]
    command = '^cat +Letter'
    hint = "That looks in the app's own folder. Name the whole path."

    [[step.wrong]]
    try = ["ls /"]
    command = '^ls'
    hint = "Listing does not read the letter. Use cat."

    """##
}
