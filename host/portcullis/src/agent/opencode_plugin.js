// For opencode: a plugin that throws keeps the tool from running.
export const Portcullis = async ({ directory }) => ({
  "tool.execute.before": (input, output) =>
    judge("opencode", { event: "tool.execute.before", directory, input, output }),
});
