/** Long work in slices, so that the page stays alive. Must never know what the work is. */

/** @returns {Promise<void>} after the page had its turn */
export function nextSlice() {
  return new Promise((resolve) => {
    const channel = new MessageChannel();
    channel.port1.onmessage = () => {
      channel.port1.close();
      resolve();
    };
    channel.port2.postMessage(null);
  });
}
