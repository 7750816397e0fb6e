// The browser's own position for the form of the preferences; the browser asks its user first.

const form = document.getElementById("place-form");
const button = form?.querySelector("[data-here]");
if (button && "geolocation" in navigator) {
  button.hidden = false;
  button.addEventListener("click", () => {
    button.disabled = true;
    navigator.geolocation.getCurrentPosition(
      ({ coords }) => {
        form.elements.place.value = `${coords.latitude.toFixed(3)},${coords.longitude.toFixed(3)}`;
        form.requestSubmit();
      },
      () => {
        button.disabled = false;
        form.elements.place.focus(); // it can be typed as well
      },
    );
  });
}
