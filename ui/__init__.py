"""The chat page. `ui.app` opens it; importing `ui` alone imports no Gradio."""
