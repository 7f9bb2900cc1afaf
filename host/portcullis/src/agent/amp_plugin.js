// For Amp: a handler has to answer, and an error of its own must not be "allow".
export default function (amp) {
  amp.on("tool.call", async (payload, ctx) => {
    try {
      const thread = payload.thread?.id ?? ctx?.thread?.id ?? "amp";
      await judge("amp", { event: "tool.call", directory: process.cwd(), thread, payload });
      return { action: "allow" };
    } catch (e) {
      return { action: "reject-and-continue", message: String(e?.message ?? e) };
    }
  });
}
